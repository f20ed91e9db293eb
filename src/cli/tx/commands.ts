import { TX_FLAGS } from "../global-flags.ts";
import type { CommandSpec, FlagSpec } from "../spec.ts";
import { FILE_COMMANDS } from "./file-commands.ts";
import { AUTHZ, FEEGRANT, GOV, SLASHING, VESTING } from "./module-commands.ts";
import { DISTRIBUTION, STAKING } from "./staking-commands.ts";

/** A module's transactions: those written by hand, then those of its rpcs. */
function moduleGroup(name: string, summary: string, own: readonly CommandSpec[]): CommandSpec {
  const commands = async () => [...own, ...(await import("../autocli/tx.ts")).txCommands(name)];
  return { name, summary, commands };
}

function handGroup(name: string, summary: string, own: readonly CommandSpec[]): CommandSpec {
  return { name, summary, commands: async () => own };
}

const DSEQ: FlagSpec = { name: "dseq", value: "<n>", summary: "number of the deployment" };
const OWNER: FlagSpec = {
  name: "owner",
  value: "<address>",
  summary: "account that owns the deployment (default: the sender)",
};
const DEPOSIT: FlagSpec = {
  name: "deposit",
  value: "<coin>",
  summary: "money for the deployment (default: the least that the chain takes)",
};

const SEND: CommandSpec = {
  name: "send",
  args: "<from-key-or-address> <to-address> <amount>",
  summary: "Send coins to an account; --from is ignored",
  flags: TX_FLAGS,
  example: "svc tx bank send alice svc1... 5000000utoken --fees 5000utoken",
  load: async () => (await import("./bank.ts")).bankSend,
};

const MULTI_SEND: CommandSpec = {
  name: "multi-send",
  args: "<from-key-or-address> <to-addresses-and-amount...>",
  summary: "Send an amount to each of several accounts; --from is ignored",
  flags: [{ name: "split", summary: "split the amount equally among them" }, ...TX_FLAGS],
  example: "svc tx bank multi-send alice svc1... svc1... 5000000utoken --fees 5000utoken",
  load: async () => (await import("./bank.ts")).bankMultiSend,
};

const PROVIDER: readonly CommandSpec[] = [
  {
    name: "create",
    args: "<file>",
    summary: "Register a provider from its definition file",
    flags: TX_FLAGS,
    example: "svc tx provider create provider.yaml --from provider --fees 5000utoken",
    load: async () => (await import("./provider.ts")).providerCreate,
  },
  {
    name: "update",
    args: "<file>",
    summary: "Change a provider's record to its definition file",
    flags: TX_FLAGS,
    example: "svc tx provider update provider.yaml --from provider --fees 5000utoken",
    load: async () => (await import("./provider.ts")).providerUpdate,
  },
];

const CERT_FLAGS: readonly FlagSpec[] = [
  { name: "nbf", value: "<time>", summary: "time from which the certificate is valid (default: now)" },
  { name: "naf", value: "<days|time>", summary: "until when it is valid: <n>d or a time (default 365d)" },
  { name: "rie", summary: "revoke a certificate that is valid and make a new one" },
  { name: "to-genesis", summary: "add the certificate to the genesis file of the home instead of sending it" },
  ...TX_FLAGS,
];

const CERT: readonly CommandSpec[] = [
  {
    name: "create",
    summary: "Make and publish a certificate for TLS with providers",
    commands: async () => [
      {
        name: "server",
        args: "<hosts...>",
        summary: "For a provider's gateway under these host names",
        flags: CERT_FLAGS,
        example: "svc tx cert create server provider.example.com --from provider --fees 5000utoken",
        load: async () => {
          const { certCreate } = await import("./cert-create.ts");
          return (input) => certCreate("server", input);
        },
      },
      {
        name: "client",
        summary: "For a tenant's requests to providers",
        flags: CERT_FLAGS,
        example: "svc tx cert create client --from alice --fees 5000utoken",
        load: async () => {
          const { certCreate } = await import("./cert-create.ts");
          return (input) => certCreate("client", input);
        },
      },
    ],
  },
  {
    name: "revoke",
    args: "[kind]",
    summary: "Revoke a certificate, by default the one in the home",
    flags: [{ name: "serial", value: "<n>", summary: "serial number of the certificate" }, ...TX_FLAGS],
    example: "svc tx cert revoke server --from provider --fees 5000utoken",
    load: async () => (await import("./cert-revoke.ts")).certRevoke,
  },
];

const DEPOSIT_COMMAND: CommandSpec = {
  name: "deposit",
  args: "<amount>",
  summary: "Add money to a deployment",
  flags: [DSEQ, OWNER, ...TX_FLAGS],
  example: "svc tx deployment deposit 5000000utoken --dseq 1234 --from alice",
  load: async () => (await import("./deployment.ts")).deploymentDeposit,
};

const DEPLOYMENT: readonly CommandSpec[] = [
  {
    name: "create",
    args: "<file>",
    summary: "Order what a deployment file asks for",
    flags: [
      { ...DSEQ, summary: "number of the deployment (default: the height, or the next free one)" },
      DEPOSIT,
      OWNER,
      ...TX_FLAGS,
    ],
    example: "svc tx deployment create examples/web.yaml --from alice --fees 5000utoken",
    load: async () => (await import("./deployment.ts")).deploymentCreate,
  },
  {
    name: "update",
    args: "<file>",
    summary: "Change what runs in a deployment; its resources stay as they are",
    flags: [DSEQ, OWNER, ...TX_FLAGS],
    example: "svc tx deployment update examples/web.yaml --dseq 1234 --from alice",
    load: async () => (await import("./deployment.ts")).deploymentUpdate,
  },
  DEPOSIT_COMMAND,
];

const ESCROW: readonly CommandSpec[] = [
  {
    name: "deposit",
    summary: "Add money to an escrow account",
    commands: async () => [
      {
        ...DEPOSIT_COMMAND,
        name: "deployment",
        example: "svc tx escrow deposit deployment 5000000utoken --dseq 1234 --from alice",
      },
    ],
  },
];

const AUDIT: readonly CommandSpec[] = [
  {
    name: "attr",
    summary: "Sign attributes of providers",
    commands: async () => [
      {
        name: "create",
        args: "<provider> [pairs...]",
        summary: "Sign attributes of a provider: keys and values in turn, or all that it has",
        flags: TX_FLAGS,
        example: "svc tx audit attr create $PROVIDER region eu-west --from auditor",
        load: async () => (await import("./audit.ts")).auditCreate,
      },
      {
        name: "delete",
        args: "<provider> [keys...]",
        summary: "Take back signed attributes of a provider: those of the keys, or all",
        flags: TX_FLAGS,
        example: "svc tx audit attr delete $PROVIDER region --from auditor",
        load: async () => (await import("./audit.ts")).auditDelete,
      },
    ],
  },
];

/** Commands of the group `tx`. */
export const TX_COMMANDS: readonly CommandSpec[] = [
  handGroup("bank", "Send coins", [SEND, MULTI_SEND]),
  handGroup("cert", "Make, publish and revoke certificates", CERT),
  moduleGroup("provider", "Register and change your provider", PROVIDER),
  moduleGroup("deployment", "Create, fund, change and close deployments", DEPLOYMENT),
  moduleGroup("market", "Bid on orders, take bids, end leases", []),
  handGroup("escrow", "Fund deployments", ESCROW),
  handGroup("audit", "Sign attributes of providers", AUDIT),
  handGroup("staking", "Delegate to validators, or become one", STAKING),
  handGroup("distribution", "Withdraw rewards of delegations", DISTRIBUTION),
  handGroup("gov", "Submit proposals, fund them, vote", GOV),
  handGroup("slashing", "Bring a validator back", SLASHING),
  handGroup("vesting", "Give coins that come free with time", VESTING),
  handGroup("authz", "Let other accounts act for yours", AUTHZ),
  handGroup("feegrant", "Let other accounts pay fees from yours", FEEGRANT),
  ...FILE_COMMANDS,
];
