import type { Context, GasCosts, MessageService } from "../../runtime/index.ts";
import type { KVStore } from "../../store/index.ts";
import type { Dec } from "../../util/index.ts";
import { type Params, type Proposal, ProposalStatus } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { toNanos } from "../../wire/index.ts";
import type { Bank } from "../bank/index.ts";
import type { BondedValidator } from "../staking/index.ts";
import type { CommunityPool } from "./account.ts";
import type { LegacyContents } from "./older/contents.ts";
import { GovRecords, STORE } from "./records.ts";

/** Functions of staking that votes need. */
export interface GovStake {
  bondedValidators(ctx: Context): BondedValidator[];
  totalBonded(ctx: Context): bigint;
  delegations(ctx: Context, delegator: Uint8Array): Iterable<readonly [operator: Uint8Array, shares: Dec]>;
}

/** Notifications about proposals for other modules. */
export interface GovHooks {
  afterProposalSubmission(ctx: Context, id: bigint): void;
  afterProposalDeposit(ctx: Context, id: bigint, depositor: Uint8Array): void;
  afterProposalVote(ctx: Context, id: bigint, voter: Uint8Array): void;
  afterProposalFailedMinDeposit(ctx: Context, id: bigint): void;
  afterProposalVotingPeriodEnded(ctx: Context, id: bigint): void;
}

export type GovBank = Pick<
  Bank,
  "burn" | "isBlocked" | "moduleBalances" | "sendFromModule" | "sendToModule" | "supply"
>;

/** The parts of the module. */
export interface GovDeps {
  readonly bank: GovBank;
  readonly stake: GovStake;
  readonly pool: CommunityPool;
  readonly messages: MessageService;
  readonly costs: (ctx: Context) => GasCosts;
  readonly legacy: LegacyContents;
  readonly listeners?: readonly Partial<GovHooks>[];
}

/** Proposals with their deposits and votes. */
export class GovKeeper {
  readonly records = new GovRecords();
  readonly deps: GovDeps;

  constructor(deps: GovDeps) {
    this.deps = deps;
  }

  getParams(ctx: Context): Params {
    return this.records.params.require(store(ctx));
  }

  /** Throws `gov/2`. */
  proposal(ctx: Context, id: bigint): Proposal {
    return this.records.proposals.require(store(ctx), id);
  }

  setProposal(ctx: Context, proposal: Proposal): void {
    this.records.proposals.set(store(ctx), proposal.id, proposal);
  }

  /** Removes a proposal and its places in the queues from the state. Its votes no longer count. */
  removeProposal(ctx: Context, proposal: Proposal): void {
    const { depositQueue, votingQueue, proposals } = this.records;
    depositQueue.remove(store(ctx), timeOf(proposal.depositEndTime), proposal.id);
    votingQueue.remove(store(ctx), timeOf(proposal.votingEndTime), proposal.id);
    proposals.delete(store(ctx), proposal.id);
    if (proposal.status === ProposalStatus.VOTING_PERIOD) this.closeBallot(ctx, proposal);
  }

  /** Ends the count of a proposal's votes; they are deleted later. */
  closeBallot(ctx: Context, proposal: Proposal): void {
    this.records.closed.set(store(ctx), ballotOf(proposal), true);
  }

  tell<K extends keyof GovHooks>(hook: K, ...args: Parameters<GovHooks[K]>): void {
    for (const listener of this.deps.listeners ?? [])
      (listener[hook] as ((...all: Parameters<GovHooks[K]>) => void) | undefined)?.(...args);
  }
}

/** Whether a proposal still takes deposits, and can be cancelled. */
export function isOpen({ status }: Proposal): boolean {
  return status === ProposalStatus.DEPOSIT_PERIOD || status === ProposalStatus.VOTING_PERIOD;
}

/** Above the id of every proposal. */
export const EXPEDITED_BALLOTS = 1n << 63n;

/**
 * The number under which the votes on a proposal are. An expedited proposal has another one than the regular proposal that
 * it may become, whose votes are new ones.
 */
export function ballotOf({ id, expedited }: Proposal): bigint {
  return expedited ? EXPEDITED_BALLOTS + id : id;
}

/** 0 for a time that is not set. */
export function timeOf(time: Proposal["submitTime"]): bigint {
  return time === undefined ? 0n : toNanos(time);
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}
