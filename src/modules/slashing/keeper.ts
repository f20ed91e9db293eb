import { create } from "@bufbuild/protobuf";
import { type Context, paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bytesValue,
  checkPrefixes,
  collection,
  type KVStore,
  protoValue,
  tupleKey,
  uint32Key,
} from "../../store/index.ts";
import { type Dec, decMul } from "../../util/index.ts";
import {
  type Params,
  ParamsSchema,
  type ValidatorSigningInfo,
  ValidatorSigningInfoSchema,
} from "../../wire/gen/sdk/slashing/v1beta1/slashing_pb.js";
import type { Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, slashingErrors as errors, fromNanos } from "../../wire/index.ts";
import type { Infraction, StakingHooks } from "../staking/index.ts";

export const STORE = "slashing";

/** Blocks of one stored part of a window. */
const CHUNK_BLOCKS = 1024n;
const CHUNK_BYTES = 128;

/** Functions of staking that penalties need. */
export interface Stake {
  findValidator(ctx: Context, operator: Uint8Array): Validator | undefined;
  findByConsensus(ctx: Context, consensus: Uint8Array): Validator | undefined;
  shares(ctx: Context, delegator: Uint8Array, validator: Uint8Array): Dec | undefined;
  validators(ctx: Context): Iterable<Validator>;
  jail(ctx: Context, validator: Validator): void;
  unjail(ctx: Context, validator: Validator): void;
  /** Burns a part of the tokens bonded at a height. Returns the validator's own part. */
  slash(ctx: Context, infraction: Infraction): bigint;
}

/** Who signed how many of the last blocks, by consensus address. */
export class SlashingKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly infos = collection({
    name: "signing info",
    prefix: 0x01,
    key: addressKey,
    value: protoValue(ValidatorSigningInfoSchema),
    notFound: errors.noSigningInfo,
    describe: (consensus) => encodeAddress(consensus, "valcons"),
  });
  /** A bit for each block of the window, set where the validator was missing. */
  readonly missed = collection({
    name: "missed blocks",
    prefix: 0x02,
    key: tupleKey<readonly [consensus: Uint8Array, chunk: number]>(addressKey, uint32Key),
    value: bytesValue,
  });
  readonly stake: Stake;

  constructor(stake: Stake) {
    this.stake = stake;
    checkPrefixes({ params: this.params, infos: this.infos, missed: this.missed });
  }

  getParams(ctx: Context): Params {
    return this.params.require(store(ctx));
  }

  /** With another window, counting starts again: places in the old one mean nothing in it. */
  changeParams(ctx: Context, params: Params): void {
    const isOther = this.getParams(ctx).signedBlocksWindow !== params.signedBlocksWindow;
    this.params.set(store(ctx), params);
    if (!isOther) return;
    for (const key of [...this.missed.keys(store(ctx))]) this.missed.delete(store(ctx), key);
    for (const [consensus, info] of [...this.infos.iterate(store(ctx))])
      this.setInfo(ctx, consensus, { ...info, startHeight: ctx.height, missedBlocksCounter: 0n, indexOffset: 0n });
  }

  info(ctx: Context, consensus: Uint8Array): ValidatorSigningInfo | undefined {
    return this.infos.get(store(ctx), consensus);
  }

  setInfo(ctx: Context, consensus: Uint8Array, info: ValidatorSigningInfo): void {
    this.infos.set(store(ctx), consensus, info);
  }

  isMissed(ctx: Context, consensus: Uint8Array, index: bigint): boolean {
    const bits = this.missed.get(store(ctx), [consensus, chunkOf(index)]);
    const { byte, mask } = bitOf(index);
    return bits !== undefined && ((bits[byte] ?? 0) & mask) !== 0;
  }

  /** A chunk without a missed block is not stored, as in a state from genesis. */
  setMissed(ctx: Context, consensus: Uint8Array, index: bigint, missed: boolean): void {
    const key = [consensus, chunkOf(index)] as const;
    const bits = Uint8Array.from(this.missed.get(store(ctx), key) ?? new Uint8Array(CHUNK_BYTES));
    const { byte, mask } = bitOf(index);
    bits[byte] = missed ? (bits[byte] ?? 0) | mask : (bits[byte] ?? 0) & ~mask;
    if (bits.some((each) => each !== 0)) this.missed.set(store(ctx), key, bits);
    else this.missed.delete(store(ctx), key);
  }

  forgetMissed(ctx: Context, consensus: Uint8Array): void {
    for (const key of [...this.missed.keys(store(ctx), { prefix: [consensus] })]) this.missed.delete(store(ctx), key);
  }

  /** Places in the window of the blocks that were missed. */
  missedBlocks(ctx: Context, consensus: Uint8Array): bigint[] {
    const found: bigint[] = [];
    for (const [[, chunk], bits] of this.missed.iterate(store(ctx), { prefix: [consensus] }))
      for (let i = 0n; i < CHUNK_BLOCKS; i++) {
        const { byte, mask } = bitOf(i);
        if (((bits[byte] ?? 0) & mask) !== 0) found.push(BigInt(chunk) * CHUNK_BLOCKS + i);
      }
    return found;
  }

  /** The most blocks of a window that a validator may miss. */
  mostMissed(ctx: Context): bigint {
    const { signedBlocksWindow, minSignedPerWindow } = this.getParams(ctx);
    return signedBlocksWindow - roundInt(decOf(minSignedPerWindow) * signedBlocksWindow);
  }
}

/** The hooks of the module: a validator is counted from the block in which it is bonded. */
export function signingHooks(keeper: SlashingKeeper): Partial<StakingHooks> {
  return {
    afterValidatorBonded: (ctx, _, consensus) => {
      const known = keeper.info(ctx, consensus);
      const fresh = { address: encodeAddress(consensus, "valcons"), jailedUntil: fromNanos(0n) };
      const info = known ?? create(ValidatorSigningInfoSchema, fresh);
      keeper.setInfo(ctx, consensus, { ...info, startHeight: ctx.height });
    },
  };
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

/** A decimal in bytes that hold its digits. */
export function decOf(bytes: Uint8Array): Dec {
  return BigInt(Buffer.from(bytes).toString("latin1"));
}

/** A decimal rounded to the nearest integer, half to even. */
function roundInt(value: Dec): bigint {
  return decMul(value, 1n);
}

function chunkOf(index: bigint): number {
  return Number(index / CHUNK_BLOCKS);
}

function bitOf(index: bigint): { readonly byte: number; readonly mask: number } {
  const bit = Number(index % CHUNK_BLOCKS);
  return { byte: bit >> 3, mask: 1 << (bit & 7) };
}
