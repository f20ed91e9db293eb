import { create } from "@bufbuild/protobuf";
import { type Context, defineGenesis, durationProblems, entryProblems, type GenesisPart } from "../../runtime/index.ts";
import { DEC_ONE, parseDec, toHex, toUtf8 } from "../../util/index.ts";
import {
  type GenesisState,
  GenesisStateSchema,
  type Params,
  ParamsSchema,
  ValidatorSigningInfoSchema,
} from "../../wire/gen/sdk/slashing/v1beta1/slashing_pb.js";
import { BondStatus } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { decodeAddress, encodeAddress } from "../../wire/index.ts";
import { consensusAddressOf } from "../staking/index.ts";
import { decOf, type SlashingKeeper, store } from "./keeper.ts";

const WINDOW = 100n;
const JAIL_SECONDS = 600n;
/** Maximum blocks of a window: each validator's record has one bit per block. */
const MOST_WINDOW = 1_000_000n;
/** More blocks than a chain ever has; a counter that begins here does not run over. */
const MOST_BLOCKS = 2n ** 62n;

export function defaultParams(): Params {
  const dec = (text: string): Uint8Array => toUtf8(`${parseDec(text)}`);
  return create(ParamsSchema, {
    signedBlocksWindow: WINDOW,
    minSignedPerWindow: dec("0.5"),
    downtimeJailDuration: { seconds: JAIL_SECONDS },
    slashFractionDoubleSign: dec("0.05"),
    slashFractionDowntime: dec("0.01"),
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const { signedBlocksWindow: window, downtimeJailDuration } = params;
  const fractions = {
    min_signed_per_window: params.minSignedPerWindow,
    slash_fraction_double_sign: params.slashFractionDoubleSign,
    slash_fraction_downtime: params.slashFractionDowntime,
  };
  const bad = Object.entries(fractions).filter(([, bytes]) => decOf(bytes) < 0n || decOf(bytes) > DEC_ONE);
  return [
    ...(window < 1n || window > MOST_WINDOW ? [`params.signed_blocks_window: must be 1 to ${MOST_WINDOW}`] : []),
    ...durationProblems("params.downtime_jail_duration", downtimeJailDuration),
    ...bad.map(([name]) => `params.${name}: must be 0 to 1`),
  ];
}

export function slashingGenesis(keeper: SlashingKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: problems,
    init: (ctx, state) => importState(keeper, ctx, state),
    check: (ctx) => bondedProblem(keeper, ctx),
    export: (ctx) => exportState(keeper, ctx),
    restart: { move: moved },
  });
}

function importState(keeper: SlashingKeeper, ctx: Context, state: GenesisState): void {
  keeper.params.set(store(ctx), state.params ?? defaultParams());
  for (const { address, validatorSigningInfo: info } of state.signingInfos)
    keeper.setInfo(ctx, valcons(address), info ?? create(ValidatorSigningInfoSchema, { address }));
  for (const { address, missedBlocks } of state.missedBlocks)
    for (const { index, missed } of missedBlocks) if (missed) keeper.setMissed(ctx, valcons(address), index, true);
}

/** A bonded validator that is not counted would never be jailed. */
function bondedProblem(keeper: SlashingKeeper, ctx: Context): string | undefined {
  for (const validator of keeper.stake.validators(ctx)) {
    if (validator.status !== BondStatus.BONDED) continue;
    const info = keeper.info(ctx, consensusAddressOf(validator));
    const name = `signing_infos: the bonded validator ${validator.operatorAddress}`;
    if (info === undefined) return `${name} is missing`;
    if (info.startHeight > ctx.height) return `${name}: start_height ${info.startHeight} is in the future`;
    if (info.tombstoned) return `${name} is tombstoned`;
  }
  return undefined;
}

function exportState(keeper: SlashingKeeper, ctx: Context): GenesisState {
  const infos = [...keeper.infos.iterate(store(ctx))].map(([consensus, info]) => ({
    consensus,
    address: encodeAddress(consensus, "valcons"),
    validatorSigningInfo: info,
  }));
  return create(GenesisStateSchema, {
    params: keeper.getParams(ctx),
    signingInfos: infos.map(({ address, validatorSigningInfo }) => ({ address, validatorSigningInfo })),
    missedBlocks: infos.map(({ address, consensus }) => ({
      address,
      missedBlocks: keeper.missedBlocks(ctx, consensus).map((index) => ({ index, missed: true })),
    })),
  });
}

/** Counting begins with the new chain; the window keeps the missed blocks. */
function moved(state: GenesisState): GenesisState {
  const signingInfos = state.signingInfos.map(({ validatorSigningInfo: info, ...rest }) => ({
    ...rest,
    ...(info === undefined ? {} : { validatorSigningInfo: { ...info, startHeight: 0n } }),
  }));
  return create(GenesisStateSchema, { ...state, signingInfos });
}

function problems(state: GenesisState): string[] {
  const window = state.params?.signedBlocksWindow ?? WINDOW;
  return [
    ...(state.params === undefined ? [] : paramsProblems(state.params)),
    ...entryProblems("signing_infos", state.signingInfos, ({ address, validatorSigningInfo: info }) => {
      if (info?.address !== address) throw new Error(`validator_signing_info.address must be ${address}`);
      if (info.indexOffset < 0n || info.indexOffset > MOST_BLOCKS)
        throw new Error(`index_offset must be 0 to ${MOST_BLOCKS}`);
      return toHex(valcons(address));
    }),
    ...entryProblems("missed_blocks", state.missedBlocks, ({ address, missedBlocks }) => {
      if (missedBlocks.some(({ index }) => index < 0n || index >= window))
        throw new Error("an index is outside the window");
      return toHex(valcons(address));
    }),
  ];
}

function valcons(text: string): Uint8Array {
  return decodeAddress(text, "valcons");
}
