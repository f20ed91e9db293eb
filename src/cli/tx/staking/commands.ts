import type { FlagSpec } from "../../command/flag-spec.ts";
import { TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";

const DESCRIPTION_FLAGS: readonly FlagSpec[] = [
  { name: "moniker", alias: "new-moniker", value: "<text>", summary: "name of the validator" },
  { name: "identity", value: "<text>", summary: "identity at a service such as Keybase" },
  { name: "website", value: "<url>", summary: "website" },
  { name: "security-contact", value: "<text>", summary: "contact for security issues" },
  { name: "details", value: "<text>", summary: "description of the validator" },
];

/** The properties of a new validator. */
export const CREATE_FLAGS: readonly FlagSpec[] = [
  { name: "amount", value: "<coin>", summary: "self-delegation of the operator" },
  { name: "pubkey", value: "<key>", summary: "key that signs blocks, as JSON or bech32" },
  ...DESCRIPTION_FLAGS,
  { name: "commission-rate", value: "<part>", summary: "share of rewards that the operator keeps", default: "0.1" },
  { name: "commission-max-rate", value: "<part>", summary: "maximum that the rate may ever reach", default: "0.2" },
  {
    name: "commission-max-change-rate",
    value: "<part>",
    summary: "maximum change of the rate per day",
    default: "0.01",
  },
  {
    name: "min-self-delegation",
    value: "<n>",
    summary: "minimum that the operator keeps bonded; it can only be raised",
    default: "1",
  },
];

/** Commands of the group `tx staking`. */
export const STAKING: readonly CommandSpec[] = [
  {
    name: "create-validator",
    args: "[file]",
    summary: "Create a validator that the sender operates, from flags or a JSON file",
    flags: [...CREATE_FLAGS, ...TX_FLAGS],
    example:
      "svc tx staking create-validator validator.json --from operator\n" +
      "svc tx staking create-validator --amount 1000000utoken --moniker mine --from operator \\\n" +
      `  --pubkey '{"@type":"/cosmos.crypto.ed25519.PubKey","key":"<base64>"}'`,
    load: async () => (await import("./validator.ts")).createValidator,
  },
];

/** Commands of the group `tx distribution`. */
export const DISTRIBUTION: readonly CommandSpec[] = [
  {
    name: "withdraw-rewards",
    args: "<validator-addr>",
    summary: "Withdraw the rewards of a delegation",
    flags: [
      { name: "commission", summary: "also withdraw the validator's commission; its operator must sign" },
      ...TX_FLAGS,
    ],
    example:
      "svc tx distribution withdraw-rewards $VALIDATOR --from alice\n" +
      "svc tx distribution withdraw-rewards $VALIDATOR --commission --from operator",
    load: async () => (await import("./distribution.ts")).withdrawRewards,
  },
  {
    name: "withdraw-all-rewards",
    summary: "Withdraw the rewards of all delegations",
    flags: [
      {
        name: "max-msgs",
        value: "<n>",
        summary: "maximum messages in one transaction; 0 puts all in one",
        default: "0",
      },
      ...TX_FLAGS,
    ],
    example: "svc tx distribution withdraw-all-rewards --max-msgs 5 --from alice",
    load: async () => (await import("./distribution.ts")).withdrawAllRewards,
  },
];
