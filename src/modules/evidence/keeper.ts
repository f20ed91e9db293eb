import { create } from "@bufbuild/protobuf";
import type { ConsensusParams, Misbehavior } from "../../abci/index.ts";
import { sha256 } from "../../crypto/index.ts";
import type { Context } from "../../runtime/index.ts";
import { bytesKey, checkPrefixes, collection, type KVStore, protoValue } from "../../store/index.ts";
import { errorText, toHexUpper } from "../../util/index.ts";
import { type Equivocation, EquivocationSchema } from "../../wire/gen/sdk/evidence/v1beta1/evidence_pb.js";
import {
  type Any,
  encodeAddress,
  encodeMessage,
  evidenceErrors as errors,
  fromNanos,
  isAddress,
  toNanos,
  unpackAs,
} from "../../wire/index.ts";

export const STORE = "evidence";

const SECOND = 1_000_000_000n;

/** Penalties that evidence needs. */
export interface Penalties {
  /**
   * Whether a validator can still be punished for a double vote: it is known, has bonded tokens and was not punished
   * before.
   */
  isPunishable(ctx: Context, consensus: Uint8Array): boolean;
  /** Burns a part of the bonded tokens, and jails the validator forever. */
  punishDoubleSign(ctx: Context, infraction: DoubleSign): void;
}

/** Two votes of a validator at a height. */
export interface DoubleSign {
  readonly consensus: Uint8Array;
  readonly power: bigint;
  readonly height: bigint;
}

/** Handles evidence that an account submits. An error refuses it. */
export type EvidenceHandler = (ctx: Context, evidence: Equivocation) => void;

export interface EvidenceDeps {
  readonly penalties: Penalties;
  /** Ages above which misbehaviour is no longer evidence. */
  readonly ages: (ctx: Context) => ConsensusParams["evidence"];
  /** By the name of the kind, which is `equivocation`. */
  readonly handlers?: Readonly<Record<string, EvidenceHandler>>;
}

/** The only kind there is. */
const EQUIVOCATION = "equivocation";

/** Punished misbehaviour, by the hash of the evidence. */
export class EvidenceKeeper {
  readonly records = collection({
    name: "evidence",
    prefix: 0x00,
    key: bytesKey,
    value: protoValue(EquivocationSchema),
    notFound: errors.notFound,
    describe: toHexUpper,
  });
  readonly deps: EvidenceDeps;

  constructor(deps: EvidenceDeps) {
    this.deps = deps;
    checkPrefixes({ records: this.records });
  }

  put(ctx: Context, evidence: Equivocation): void {
    this.records.set(store(ctx), hashOf(evidence), evidence);
  }

  /** Punishes what the engine proves, unless it is too old or its validator out of reach, and stores it. */
  punish(ctx: Context, { validator, height, time }: Misbehavior): void {
    const { penalties } = this.deps;
    const { address: consensus, power } = validator;
    if (!penalties.isPunishable(ctx, consensus) || this.#isTooOld(ctx, height, time)) return;
    penalties.punishDoubleSign(ctx, { consensus, power, height });
    const consensusAddress = encodeAddress(consensus, "valcons");
    this.put(ctx, create(EquivocationSchema, { height, time: fromNanos(time), power, consensusAddress }));
  }

  /** Hands an account's evidence to the handler of its kind. Returns its hash. */
  submit(ctx: Context, evidence: Equivocation): Uint8Array {
    const hash = hashOf(evidence);
    if (this.records.has(store(ctx), hash)) throw errors.exists(toHexUpper(hash));
    const handle = this.deps.handlers?.[EQUIVOCATION];
    if (handle === undefined) throw errors.noHandler(EQUIVOCATION);
    try {
      handle(ctx, evidence);
    } catch (error) {
      throw errors.invalid(errorText(error), { cause: error });
    }
    ctx.events.emit("submit_evidence", { evidence_hash: toHexUpper(hash) });
    this.put(ctx, evidence);
    return hash;
  }

  /** Older than both ages, so that no stake of that time answers for it any more. */
  #isTooOld(ctx: Context, height: bigint, time: bigint): boolean {
    const { maxAgeDuration, maxAgeNumBlocks } = this.deps.ages(ctx);
    return ctx.block.time - time > maxAgeDuration && ctx.height - height > maxAgeNumBlocks;
  }
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

/** SHA-256 of the encoded evidence, by which it is known. */
export function hashOf(evidence: Equivocation): Uint8Array {
  return sha256(encodeMessage(EquivocationSchema, evidence));
}

/** Reads evidence and checks what needs no state. */
export function readEvidence(any: Any | undefined): Equivocation {
  const evidence = unpackAs(EquivocationSchema, any);
  if (evidence === undefined) throw errors.invalid("missing evidence");
  const { time, height, power, consensusAddress } = evidence;
  if (time === undefined || toNanos(time) < SECOND) throw errors.invalid("invalid equivocation time");
  if (height < 1n) throw errors.invalid(`invalid equivocation height: ${height}`);
  if (power < 1n) throw errors.invalid(`invalid equivocation validator power: ${power}`);
  if (!isAddress(consensusAddress, "valcons")) throw errors.invalid("invalid equivocation validator consensus address");
  return evidence;
}
