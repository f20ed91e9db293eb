import { create } from "@bufbuild/protobuf";
import { gasTable, gasTableProblems, minimumsProblems } from "../../runtime/index.ts";
import { DEFAULT_LIMITS, SIZE_LIMITS, type SizeLimit } from "../../sdl/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import {
  type Limits,
  LimitsSchema,
  type Params,
  ParamsSchema,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Msg } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { deploymentErrors as errors } from "../../wire/index.ts";

const MIN_DEPOSIT = "5000000";
/** A hundred deposits, which fill an account, cost 100 TOKEN that the owner can then spend. */
const MIN_SPONSOR_DEPOSIT = "1000000";
const MIN_START_BLOCKS = 100n;
const MAX_START_BLOCKS = 1_000_000_000n;
/** About a week at six seconds a block. */
const RETENTION_BLOCKS = 100_800n;
const MAX_RETENTION_BLOCKS = 1_000_000_000n;
/** More than a full block can create. */
const PRUNE_RECORDS = 1000;
const MAX_PRUNE_RECORDS = 100_000;

/**
 * Fixed gas of each message, which includes this much store gas. Together with ten a byte and a signature, every
 * message of ordinary size stays below the default limit of 200,000.
 */
const MESSAGE_GAS = {
  MsgCreateDeployment: 60_000n,
  MsgDepositDeployment: 40_000n,
  MsgUpdateDeployment: 50_000n,
  MsgCloseDeployment: 80_000n,
  MsgCloseGroup: 90_000n,
  MsgPauseGroup: 90_000n,
  MsgStartGroup: 60_000n,
};

export function defaultParams(): Params {
  return create(ParamsSchema, {
    minDeposits: [{ denom: NATIVE_DENOM, amount: MIN_DEPOSIT }],
    limits: { ...DEFAULT_LIMITS },
    minStartBlocks: MIN_START_BLOCKS,
    retentionBlocks: RETENTION_BLOCKS,
    maxPruneRecords: PRUNE_RECORDS,
    minSponsorDeposits: [{ denom: NATIVE_DENOM, amount: MIN_SPONSOR_DEPOSIT }],
    messageGas: gasTable(MESSAGE_GAS),
  });
}

function pruningProblems({ retentionBlocks, maxPruneRecords }: Params): string[] {
  return [
    ...(retentionBlocks < 1n || retentionBlocks > MAX_RETENTION_BLOCKS
      ? [`retention_blocks must be 1 to ${MAX_RETENTION_BLOCKS}`]
      : []),
    ...(maxPruneRecords < 1 || maxPruneRecords > MAX_PRUNE_RECORDS
      ? [`max_prune_records must be 1 to ${MAX_PRUNE_RECORDS}`]
      : []),
  ];
}

/** Refuses parameters with which the module could not work. Throws `deployment/22`. */
export function checkParams(params: Params): Params {
  const [problem] = paramsProblems(params);
  if (problem !== undefined) throw errors.invalidParams(problem);
  return params;
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const { limits, minStartBlocks } = params;
  return [
    ...(limits === undefined ? ["limits are missing"] : sizeProblems(limits)),
    ...(minStartBlocks < 1n || minStartBlocks > MAX_START_BLOCKS
      ? [`min_start_blocks must be at least 1 and at most ${MAX_START_BLOCKS}`]
      : []),
    ...pruningProblems(params),
    ...minimumsProblems("min_deposits", params.minDeposits),
    ...(params.minSponsorDeposits.length === 0
      ? []
      : minimumsProblems("min_sponsor_deposits", params.minSponsorDeposits)),
    ...gasTableProblems(Msg, params.messageGas),
  ];
}

/** A limit of zero would refuse every deployment; a limit without bound would let a spec cost more than it pays. */
function sizeProblems(limits: Limits): string[] {
  return LimitsSchema.fields.flatMap(({ name, localName }) => {
    if (!isSizeLimit(localName)) return [];
    const [value, { most }] = [limits[localName], SIZE_LIMITS[localName]];
    const least = localName === "attributeKeyMax" ? 2 : 1;
    return value >= least && value <= most ? [] : [`limits.${name} is ${value}, allowed are ${least} to ${most}`];
  });
}

function isSizeLimit(name: string): name is SizeLimit {
  return name in SIZE_LIMITS;
}
