import { paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bigintValue,
  bytesValue,
  checkPrefixes,
  collection,
  index,
  item,
  presentValue,
  protoValue,
  queue,
  sequence,
  tupleKey,
  uint8Key,
  uint64Key,
} from "../../store/index.ts";
import {
  DepositSchema,
  EndedProposalSchema,
  OpenTallySchema,
  ParamsSchema,
  ProposalSchema,
  type Vote,
  VoteSchema,
} from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { encodeAddress, govErrors as errors } from "../../wire/index.ts";

export const STORE = "gov";

type Pair = readonly [proposal: bigint, account: Uint8Array];
/** A vote by the number of its proposal's ballot. */
export type VoteKey = readonly [ballot: bigint, voter: Uint8Array];
/** Delegations to a validator whose delegators voted for an option. */
export type VotedKey = readonly [ballot: bigint, operator: Uint8Array, option: number];
const pairText = ([proposal, account]: Pair): string => `of ${encodeAddress(account)} on ${proposal}`;

/** Everything that the module stores. */
export class GovRecords {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly ids = sequence({ name: "next proposal id", prefix: 0x01, first: 1n });
  readonly proposals = collection({
    name: "proposal",
    prefix: 0x02,
    key: uint64Key,
    value: protoValue(ProposalSchema),
    notFound: errors.unknownProposal,
    describe: (id) => `${id}`,
  });
  readonly deposits = collection({
    name: "deposit",
    prefix: 0x03,
    key: tupleKey<Pair>(uint64Key, addressKey),
    value: protoValue(DepositSchema),
    notFound: errors.depositNotFound,
    describe: pairText,
  });
  readonly votes = collection({
    name: "vote",
    prefix: 0x04,
    key: tupleKey<VoteKey>(uint64Key, addressKey),
    value: protoValue(VoteSchema),
    notFound: errors.voteNotFound,
    indexes: {
      voter: index({
        prefix: 0x0a,
        key: tupleKey(addressKey),
        of: (_: Vote, [, voter]: VoteKey) => [voter] as const,
      }),
    },
  });
  /** Sums of delegated shares times the weight of the delegator's vote: whole numbers of 10^-36. */
  readonly voted = collection({
    name: "voted shares",
    prefix: 0x0b,
    key: tupleKey<VotedKey>(uint64Key, addressKey, uint8Key),
    value: bigintValue,
  });
  /** Ballots whose votes no longer count and are still to be deleted. */
  readonly closed = collection({ name: "closed ballot", prefix: 0x0c, key: uint64Key, value: presentValue });
  /** Proposals by the time in nanoseconds at which their deposit period ends. */
  readonly depositQueue = queue({ name: "proposal without deposit", prefix: 0x05, key: uint64Key });
  /** Proposals by the time at which their vote ends. */
  readonly votingQueue = queue({ name: "proposal in its vote", prefix: 0x06, key: uint64Key });
  /** Unfinished counts of version 1 of the module. */
  readonly tallies = collection({ name: "tally", prefix: 0x07, key: uint64Key, value: protoValue(OpenTallySchema) });
  /** Proposals whose deposits must still be returned or burnt. */
  readonly ended = collection({
    name: "ended proposal",
    prefix: 0x08,
    key: uint64Key,
    value: protoValue(EndedProposalSchema),
  });
  readonly constitution = item({ name: "constitution", prefix: 0x09, value: bytesValue });

  constructor() {
    const { params, ids, proposals, deposits, votes, voted, closed, depositQueue, votingQueue } = this;
    const { tallies, ended, constitution } = this;
    const records = { params, ids, proposals, deposits, votes, voted, closed, depositQueue, votingQueue };
    checkPrefixes({ ...records, tallies, ended, constitution });
  }
}
