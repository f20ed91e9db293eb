import type { FlagSpec } from "../../command/flag-spec.ts";
import { ALWAYS_JSON, QUERY_FLAGS, TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { ALLOW_UNKNOWN } from "../files/commands.ts";

const OLDER: readonly FlagSpec[] = [
  { name: "title", value: "<text>", summary: "title of a proposal without messages, for chains before 0.46" },
  { name: "description", value: "<text>", summary: "its description" },
  { name: "type", value: "<type>", summary: "its type", default: "Text" },
  { name: "deposit", value: "<coins>", summary: "its first deposit" },
  { name: "proposal", value: "<file>", summary: "file with title, description, type and deposit" },
];

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
    flags: [...QUERY_FLAGS.filter(({ name }) => name !== "output"), ALWAYS_JSON],
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
];
