import { paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bytesValue,
  checkPrefixes,
  collection,
  item,
  protoValue,
  queue,
  sequence,
  tupleKey,
  uint64Key,
} from "../../store/index.ts";
import {
  DepositSchema,
  EndedProposalSchema,
  OpenTallySchema,
  ParamsSchema,
  ProposalSchema,
  VoteSchema,
} from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { encodeAddress, govErrors as errors } from "../../wire/index.ts";

export const STORE = "gov";

type Pair = readonly [proposal: bigint, account: Uint8Array];
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
    key: tupleKey<Pair>(uint64Key, addressKey),
    value: protoValue(VoteSchema),
    notFound: errors.voteNotFound,
    describe: pairText,
  });
  /** Proposals by the time in nanoseconds at which their deposit period ends. */
  readonly depositQueue = queue({ name: "proposal without deposit", prefix: 0x05, key: uint64Key });
  /** Proposals by the time at which their vote ends. */
  readonly votingQueue = queue({ name: "proposal in its vote", prefix: 0x06, key: uint64Key });
  /** Counts that continue in the next block. */
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
    const { params, ids, proposals, deposits, votes, depositQueue, votingQueue, tallies, ended, constitution } = this;
    checkPrefixes({ params, ids, proposals, deposits, votes, depositQueue, votingQueue, tallies, ended, constitution });
  }
}
