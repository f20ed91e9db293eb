import type { FlagSpec } from "../../command/flag-spec.ts";
import { TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { ALLOW_UNKNOWN } from "../files/commands.ts";

/** Commands of the group `tx bank`. */
export const BANK: readonly CommandSpec[] = [
  {
    name: "multi-send",
    args: "<from-key-or-address> <to-addresses-and-amount...>",
    summary: "Send an amount to each of several accounts; ignores --from",
    flags: [{ name: "split", summary: "split the amount equally among them" }, ...TX_FLAGS],
    example: "svc tx bank multi-send alice svc1... svc1... 5000000utoken --fees 5000utoken",
    load: async () => (await import("./bank.ts")).bankMultiSend,
  },
];

const SPEND_LIMIT: FlagSpec = {
  name: "spend-limit",
  value: "<coins>",
  summary: "limit on the total that may be spent",
};
const EXPIRATION: FlagSpec = {
  name: "expiration",
  value: "<time>",
  summary: "when it expires: a time or seconds since 1970 (default: never)",
};

/** Commands of the group `tx authz`. */
export const AUTHZ: readonly CommandSpec[] = [
  {
    name: "grant",
    args: "<grantee> <authorization>",
    summary: "Authorize an account to act for you: send, deposit, generic, delegate, unbond or redelegate",
    flags: [
      SPEND_LIMIT,
      { name: "allow-list", value: "<addresses>", summary: "accounts that may receive coins (default: any)" },
      { name: "msg-type", value: "<type-url>", summary: "type of the messages of a generic authorization" },
      { name: "allowed-validators", value: "<addresses>", summary: "only validators that may receive delegations" },
      { name: "deny-validators", value: "<addresses>", summary: "validators that may not receive delegations" },
      EXPIRATION,
      ...TX_FLAGS,
    ],
    example:
      "svc tx authz grant $GRANTEE send --spend-limit 1000utoken --from alice\n" +
      "svc tx authz grant $GRANTEE generic --msg-type /cosmos.gov.v1.MsgVote --from alice",
    load: async () => (await import("./authz.ts")).authzGrant,
  },
  {
    name: "exec",
    args: "<file>",
    summary: "Send the messages in a file on behalf of the account that authorized you, - for standard input",
    flags: [ALLOW_UNKNOWN, ...TX_FLAGS],
    example:
      "svc tx bank send $GRANTER $TO 5utoken --generate-only > unsigned.json\n" +
      "svc tx authz exec unsigned.json --from bob",
    load: async () => (await import("./authz.ts")).authzExec,
  },
];

/** Commands of the group `tx feegrant`. */
export const FEEGRANT: readonly CommandSpec[] = [
  {
    name: "grant",
    aliases: ["grant-allowance"],
    args: "<granter-key-or-address> <grantee>",
    summary: "Let an account pay fees from yours; ignores --from",
    flags: [
      SPEND_LIMIT,
      { name: "period", value: "<seconds>", summary: "length of a period that has its own limit" },
      { name: "period-limit", value: "<coins>", summary: "limit on what may be spent in each period" },
      { name: "allowed-messages", value: "<type-urls>", summary: "only message types whose fees it pays" },
      EXPIRATION,
      ...TX_FLAGS,
    ],
    example:
      "svc tx feegrant grant alice $GRANTEE --spend-limit 100utoken --expiration 2030-01-30T15:04:05Z\n" +
      "svc tx feegrant grant alice $GRANTEE --period 3600 --period-limit 10utoken",
    load: async () => (await import("./feegrant.ts")).feegrantGrant,
  },
];

/** Commands of the group `tx vesting`. */
export const VESTING: readonly CommandSpec[] = [
  {
    name: "create-periodic-vesting-account",
    args: "<to-address> <file>",
    summary: "Create an account whose coins vest at the end of each period in a file",
    flags: TX_FLAGS,
    example: "svc tx vesting create-periodic-vesting-account $ADDRESS periods.json --from alice",
    load: async () => (await import("./vesting.ts")).createPeriodicVestingAccount,
  },
];
