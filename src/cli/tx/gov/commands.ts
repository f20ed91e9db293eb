import { QUERY_FLAGS, TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec, FlagSpec } from "../../command/spec.ts";
import { ALLOW_UNKNOWN } from "../files/commands.ts";

const OLDER: readonly FlagSpec[] = [
  { name: "title", value: "<text>", summary: "title of a proposal without messages, for chains before 0.46" },
  { name: "description", value: "<text>", summary: "its description" },
  { name: "type", value: "<type>", summary: "its type", default: "Text" },
  { name: "deposit", value: "<coins>", summary: "its first deposit" },
  { name: "proposal", value: "<file>", summary: "file with title, description, type and deposit" },
];
const LEGACY: FlagSpec = { name: "legacy", summary: "send the message of releases before 0.46" };
const METADATA: FlagSpec = {
  name: "metadata",
  value: "<text>",
  summary: "text stored with the vote, for example the reason",
};

/** Commands of the group `tx gov`. */
export const GOV: readonly CommandSpec[] = [
  {
    name: "submit-proposal",
    args: "[file]",
    summary: "Submit a proposal from a file with its messages, deposit, title and summary",
    flags: [ALLOW_UNKNOWN, ...OLDER, ...TX_FLAGS],
    example:
      "svc tx gov submit-proposal proposal.json --from alice\n" +
      "svc tx gov submit-proposal --title Test --description 'What it is' --deposit 10stake --from alice",
    load: async () => (await import("./proposal.ts")).govSubmitProposal,
  },
  {
    name: "draft-proposal",
    args: "[message]",
    summary: "Print a proposal file to fill in, with a message of this type",
    flags: QUERY_FLAGS.filter(({ name }) => name !== "output"),
    example:
      "svc tx gov draft-proposal MsgCommunityPoolSpend > proposal.json\n" +
      "svc tx gov draft-proposal /sdk.staking.v1beta1.MsgUpdateParams > proposal.json",
    load: async () => (await import("./draft.ts")).govDraftProposal,
  },
  {
    name: "submit-legacy-proposal",
    summary: "Submit a text proposal without messages, as in releases before 0.46",
    flags: [...OLDER, ...TX_FLAGS],
    example: "svc tx gov submit-legacy-proposal --title Test --description 'What it is' --deposit 10stake --from alice",
    load: async () => (await import("./proposal.ts")).govSubmitLegacyProposal,
  },
  {
    name: "deposit",
    args: "<proposal-id> <amount>",
    summary: "Add to the deposit of a proposal",
    flags: [LEGACY, ...TX_FLAGS],
    example: "svc tx gov deposit 1 10000000stake --from alice",
    load: async () => (await import("./gov.ts")).govDeposit,
  },
  {
    name: "vote",
    args: "<proposal-id> <option>",
    summary: "Vote on a proposal: yes, no, no_with_veto or abstain",
    flags: [METADATA, LEGACY, ...TX_FLAGS],
    example: "svc tx gov vote 1 yes --from alice",
    load: async () => (await import("./gov.ts")).govVote,
  },
  {
    name: "weighted-vote",
    args: "<proposal-id> <weighted-options>",
    summary: "Split your vote on a proposal",
    flags: [METADATA, LEGACY, ...TX_FLAGS],
    example: "svc tx gov weighted-vote 1 yes=0.6,no=0.3,abstain=0.1 --from alice",
    load: async () => (await import("./gov.ts")).govWeightedVote,
  },
];
