import { TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec, FlagSpec } from "../../command/spec.ts";
import { ALLOW_UNKNOWN } from "../files/commands.ts";

/** Commands of the group `tx bank`. */
export const BANK: readonly CommandSpec[] = [
  {
    name: "multi-send",
    args: "<from-key-or-address> <to-addresses-and-amount...>",
    summary: "Send an amount to each of several accounts; --from is ignored",
    flags: [{ name: "split", summary: "split the amount equally among them" }, ...TX_FLAGS],
    example: "svc tx bank multi-send alice svc1... svc1... 5000000utoken --fees 5000utoken",
    load: async () => (await import("./bank.ts")).bankMultiSend,
  },
];

const SPEND_LIMIT: FlagSpec = { name: "spend-limit", value: "<coins>", summary: "most that may be spent in all" };
const EXPIRATION: FlagSpec = {
  name: "expiration",
  value: "<time>",
  summary: "when it ends: a time or seconds since 1970; never when left out",
};

/** Commands of the group `tx authz`. */
export const AUTHZ: readonly CommandSpec[] = [
  {
    name: "grant",
    args: "<grantee> <authorization>",
    summary: "Let an account act for you: send, generic, delegate, unbond or redelegate",
    flags: [
      SPEND_LIMIT,
      { name: "allow-list", value: "<addresses>", summary: "who may receive what is sent; anybody when left out" },
      { name: "msg-type", value: "<type-url>", summary: "type of the messages of a generic authorization" },
      { name: "allowed-validators", value: "<addresses>", summary: "the only validators of delegations" },
      { name: "deny-validators", value: "<addresses>", summary: "validators that delegations may not have" },
      EXPIRATION,
      ...TX_FLAGS,
    ],
    example:
      "svc tx authz grant $GRANTEE send --spend-limit 1000stake --from alice\n" +
      "svc tx authz grant $GRANTEE generic --msg-type /cosmos.gov.v1.MsgVote --from alice",
    load: async () => (await import("./authz.ts")).authzGrant,
  },
  {
    name: "exec",
    args: "<file>",
    summary: "Send the messages of a transaction in a file for the account that let you, - for standard input",
    flags: [ALLOW_UNKNOWN, ...TX_FLAGS],
    example:
      "svc tx bank send $GRANTER $TO 5stake --generate-only > unsigned.json\n" +
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
    summary: "Let an account pay fees from yours; --from is ignored",
    flags: [
      SPEND_LIMIT,
      { name: "period", value: "<seconds>", summary: "length of a period with a limit of its own" },
      { name: "period-limit", value: "<coins>", summary: "most that may be spent in each period" },
      { name: "allowed-messages", value: "<type-urls>", summary: "the only types of messages whose fees it pays" },
      EXPIRATION,
      ...TX_FLAGS,
    ],
    example:
      "svc tx feegrant grant alice $GRANTEE --spend-limit 100stake --expiration 2030-01-30T15:04:05Z\n" +
      "svc tx feegrant grant alice $GRANTEE --period 3600 --period-limit 10stake",
    load: async () => (await import("./feegrant.ts")).feegrantGrant,
  },
];

/** Commands of the group `tx vesting`. */
export const VESTING: readonly CommandSpec[] = [
  {
    name: "create-periodic-vesting-account",
    args: "<to-address> <file>",
    summary: "Make an account whose coins come free at the end of each period of a file",
    flags: TX_FLAGS,
    example: "svc tx vesting create-periodic-vesting-account $ADDRESS periods.json --from alice",
    load: async () => (await import("./vesting.ts")).createPeriodicVestingAccount,
  },
];
