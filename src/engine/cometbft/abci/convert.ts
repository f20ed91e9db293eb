import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AppQueryResult,
  type BlockPlace,
  type CommitInfo,
  type ConsensusParams,
  consensusParamsFields,
  consensusParamsOf,
  consensusParamsProblems,
  type FinalizeBlockResult,
  logOf,
  type Misbehavior,
  type Snapshot,
  type TxResult,
  type ValidatorUpdate,
  type VoteInfo,
} from "../../../abci/index.ts";
import { ExecTxResultSchema, type ValidatorUpdate as UpdateMessage } from "../../../wire/gen/comet/v1/abci_pb.js";
import {
  type CommitInfo as CommitMessage,
  type EngineParams,
  type ExtendedCommitInfo,
  type Misbehavior as MisbehaviorMessage,
  MisbehaviorType,
  type RequestFinalizeBlock,
  type RequestPrepareProposal,
  type RequestProcessProposal,
  type ResponseFinalizeBlockSchema,
  type ResponseQuerySchema,
  type SnapshotSchema,
  type VotingValidator,
} from "../../../wire/gen/comet/v1/app_pb.js";
import { timeOf } from "../../../wire/index.ts";

/** A request that does not fit the state of the application, or that it does not support. */
export class Refusal extends Error {}

type BlockRequest = Pick<
  RequestFinalizeBlock | RequestProcessProposal | RequestPrepareProposal,
  "height" | "time" | "proposerAddress" | "nextValidatorsHash" | "misbehavior"
>;

/** Place and evidence of a block in a request. */
export function placeOf(request: BlockRequest, commit: CommitMessage | ExtendedCommitInfo | undefined): BlockPlace {
  return {
    height: request.height,
    time: timeOf(request.time),
    proposer: request.proposerAddress,
    nextValidatorsHash: request.nextValidatorsHash,
    lastCommit: commitInfoOf(commit),
    misbehavior: request.misbehavior.map(misbehaviorOf),
  };
}

function commitInfoOf(commit: CommitMessage | ExtendedCommitInfo | undefined): CommitInfo {
  const votes = (commit?.votes ?? []).map(({ validator, blockIdFlag }): VoteInfo => {
    if (blockIdFlag !== 1 && blockIdFlag !== 2 && blockIdFlag !== 3)
      throw new Refusal(`a vote has the unknown flag ${blockIdFlag}`);
    return { validator: validatorOf(validator), flag: blockIdFlag };
  });
  return { round: commit?.round ?? 0, votes };
}

function validatorOf(validator: VotingValidator | undefined): VoteInfo["validator"] {
  return { address: validator?.address ?? new Uint8Array(0), power: validator?.power ?? 0n };
}

function misbehaviorOf({ type, validator, height, time, totalVotingPower }: MisbehaviorMessage): Misbehavior {
  if (type === MisbehaviorType.UNKNOWN) throw new Refusal("misbehaviour is of an unknown type");
  const kind = type === MisbehaviorType.DUPLICATE_VOTE ? "duplicateVote" : "lightClientAttack";
  return { kind, validator: validatorOf(validator), height, time: timeOf(time), totalVotingPower };
}

/** The parameters of a new chain. Refuses parameters that applications of svc do not have. */
export function paramsOf(message: EngineParams | undefined): ConsensusParams {
  const params = message && consensusParamsOf(message);
  if (message === undefined || params === undefined) throw new Refusal("the consensus parameters are incomplete");
  const { abci, version } = message;
  if ((abci?.voteExtensionsEnableHeight ?? 0n) !== 0n)
    throw new Refusal("vote extensions are not supported: set vote_extensions_enable_height to 0");
  if ((version?.app ?? 0n) !== 0n) throw new Refusal("the version of the application must be 0 in the parameters");
  const [problem] = consensusParamsProblems(params);
  if (problem !== undefined) throw new Refusal(problem);
  return params;
}

export function updateOf({ pubKey, power }: UpdateMessage): ValidatorUpdate {
  if (pubKey?.sum.case !== "ed25519") throw new Refusal("keys of validators are of type ed25519");
  return { pubKey: pubKey.sum.value, power };
}

export function updateInit({ pubKey, power }: ValidatorUpdate) {
  return { pubKey: { sum: { case: "ed25519" as const, value: pubKey } }, power };
}

/**
 * Fields that results of checks and of blocks have in common. Events are left out: no hash covers them, our index has them, and the
 * engine would only store them.
 */
export function resultInit(result: TxResult) {
  const { code, codespace, data, gasWanted, gasUsed } = result;
  return { code, codespace, data, log: logOf(result), gasWanted, gasUsed };
}

export function blockResultInit(result: FinalizeBlockResult): MessageInitShape<typeof ResponseFinalizeBlockSchema> {
  const { txResults, validatorUpdates, consensusParamUpdates, appHash } = result;
  return {
    txResults: txResults.map((each) => create(ExecTxResultSchema, resultInit(each))),
    validatorUpdates: validatorUpdates.map(updateInit),
    ...(consensusParamUpdates === undefined
      ? {}
      : { consensusParamUpdates: consensusParamsFields(consensusParamUpdates) }),
    appHash,
  };
}

export function queryInit(result: AppQueryResult): MessageInitShape<typeof ResponseQuerySchema> {
  const { proofOps, ...fields } = result;
  return proofOps.length === 0 ? fields : { ...fields, proofOps: { ops: proofOps.map((op) => ({ ...op })) } };
}

export function snapshotInit(snapshot: Snapshot): MessageInitShape<typeof SnapshotSchema> {
  return { ...snapshot };
}
