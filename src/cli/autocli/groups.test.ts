import { describe, expect, test } from "vitest";
import { allServices, cliGroup, cliOption, MODULES, signerPath } from "../../wire/index.ts";
import type { CommandSpec } from "../command/spec.ts";
import { OWN_QUERIES } from "../query/commands.ts";
import { OWN_TXS } from "../tx/commands.ts";
import { queryGroups, txGroups } from "./groups.ts";

async function wordsOf(specs: readonly CommandSpec[], before: readonly string[] = []): Promise<string[]> {
  const found = await Promise.all(
    specs.map(async ({ name, commands }) => {
      const words = [...before, name];
      return commands === undefined ? [words.join(" ")] : wordsOf(await commands(), words);
    }),
  );
  return found.flat();
}

const SERVICES = allServices();

/**
 * The command that is written by hand in the place of a generated one, and why; no words where it stands in no group, or where
 * nothing calls the rpc.
 */
const BY_HAND: Readonly<Record<string, readonly [words: string, why: string]>> = {
  "sdk.authz.v1beta1.Msg/Grant": [
    "authz grant",
    "makes one of several kinds of authorization, as its words and flags say",
  ],
  "sdk.authz.v1beta1.Msg/Exec": ["authz exec", "reads the messages of a transaction in a file"],
  "sdk.bank.v1beta1.Msg/MultiSend": [
    "bank multi-send",
    "makes one output of each address, and splits the amount among them",
  ],
  "sdk.auth.v1beta1.Query/AccountAddressByID": [
    "",
    "people know addresses; it is there for programs that keep numbers",
  ],
  "sdk.auth.v1beta1.Query/AddressBytesToString": ["", "`keys parse` does it without a node"],
  "sdk.auth.v1beta1.Query/AddressStringToBytes": ["", "`keys parse` does it without a node"],
  "sdk.bank.v1beta1.Query/DenomMetadataByQueryString": ["", "`bank denom-metadata` takes every denomination"],
  "sdk.bank.v1beta1.Query/DenomOwnersByQuery": ["", "`bank denom-owners` takes every denomination"],
  "sdk.distribution.v1beta1.Msg/WithdrawDelegatorReward": [
    "distribution withdraw-rewards",
    "with --commission two messages, and one for each delegation",
  ],
  "sdk.feegrant.v1beta1.Msg/GrantAllowance": [
    "feegrant grant",
    "nests one kind of allowance in another, as its flags say",
  ],
  "sdk.gov.v1.Msg/SubmitProposal": ["gov submit-proposal", "reads messages in a file, or flags of older releases"],
  "sdk.evidence.v1beta1.Msg/SubmitEvidence": [
    "",
    "no chain of the ecosystem registers a handler: it would always be refused",
  ],
  "sdk.gov.v1.Query/Params": ["gov params", "one rpc or three, as the release has it"],
  "sdk.staking.v1beta1.Msg/CreateValidator": [
    "staking create-validator",
    "reads a file, and a public key in several forms",
  ],
  "sdk.vesting.v1beta1.Msg/CreatePeriodicVestingAccount": [
    "vesting create-periodic-vesting-account",
    "reads the periods in a file",
  ],
  "svc.audit.v1beta1.Msg/SignProviderAttributes": [
    "audit attr create",
    "without pairs it asks for the attributes of the provider",
  ],
  "svc.cert.v1beta1.Msg/CreateCertificate": [
    "cert create client",
    "makes a key and a certificate, and keeps them in a file",
  ],
  "svc.cert.v1beta1.Msg/RevokeCertificate": ["cert revoke", "finds the serial number in the certificate's file"],
  "svc.deployment.v1beta1.Msg/CreateDeployment": [
    "deployment create",
    "reads a file, and may send a certificate first",
  ],
  "svc.deployment.v1beta1.Msg/UpdateDeployment": [
    "deployment update",
    "reads a file, and compares it with the groups on the chain",
  ],
  "svc.provider.v1beta1.Msg/CreateProvider": ["provider create", "reads a file"],
  "svc.provider.v1beta1.Msg/UpdateProvider": ["provider update", "reads a file"],
  "sdk.evidence.v1beta1.Query/AllEvidence": [
    "",
    "one command for all and for one, which asks in two forms for two releases",
  ],
  "sdk.evidence.v1beta1.Query/Evidence": [
    "",
    "one command for all and for one, which asks in two forms for two releases",
  ],
};

/** Why there are commands by hand that stand in the place of no rpc. */
const BESIDE: Readonly<Record<string, string>> = {
  "cert create server": "makes the certificate of a provider, as `cert create client` that of a tenant",
  "distribution withdraw-all-rewards": "sends a message for each validator",
  "escrow blocks-remaining": "counts from an account, its rate and the pace of blocks",
  "gov draft-proposal": "asks questions and writes a file",
  "gov param": "shows one of three kinds of parameters",
  "gov proposer": "finds the transaction where the chain does not keep who sent it",
  "gov submit-legacy-proposal": "packs the proposal of an older release into a message",
};

/** The signer of messages that no account can send: they are parts of proposals. */
const AUTHORITY = "authority";
/** Its rpcs are called on chains without `sdk.gov.v1`. */
const OLDER = ["sdk.gov.v1beta1.Msg", "sdk.gov.v1beta1.Query"];
const TREES = [
  ["Msg", await wordsOf(txGroups()), OWN_TXS],
  ["Query", await wordsOf(queryGroups()), OWN_QUERIES],
] as const;

describe.each(TREES)("commands of %s services", (service, commands, own) => {
  const services = SERVICES.filter(({ name }) => name === service).map((each) => {
    return { each, module: each.typeName.split(".")[1] ?? "" };
  });

  test("the table of modules is what the options of their services say", () => {
    const said = services.flatMap(({ each, module }) => {
      const group = cliGroup(each);
      return group === undefined ? [] : [[module, group.short]];
    });
    const table = MODULES.flatMap(({ module, [service]: short }) => (short === undefined ? [] : [[module, short]]));
    expect(table, "run: npm run gen").toEqual(said.sort());
  });

  test("every rpc that no option skips is one", () => {
    const missing = services.flatMap(({ each, module }) =>
      each.methods.flatMap((method) => {
        const cli = cliOption(method);
        if (cli === undefined) return [`${each.typeName}/${method.name} has no option`];
        const made = cli.skip ? [] : [cli, ...cli.more].map(({ command }) => `${module} ${command}`);
        return made.filter((words) => !commands.includes(words));
      }),
    );
    expect(missing).toEqual([]);
  });

  test("an rpc is skipped for a reason", () => {
    const skipped = services.flatMap(({ each }) => {
      const options = each.methods.flatMap((method) => cliOption(method) ?? []).flatMap((cli) => [cli, ...cli.more]);
      const singles = options.map(({ single }) => single?.rpc);
      return each.methods.filter(
        (method) => cliOption(method)?.skip && !OLDER.includes(each.typeName) && !singles.includes(method.name),
      );
    });
    const ofAccounts = skipped.filter(({ input }) => signerPath(input) !== AUTHORITY);
    const names = ofAccounts.map(({ parent, name }) => `${parent.typeName}/${name}`);
    expect(names.filter((name) => BY_HAND[name] === undefined)).toEqual([]);
    const ofService = Object.keys(BY_HAND).filter((name) => name.includes(`.${service}/`));
    expect(
      ofService.filter((name) => !names.includes(name)),
      "these have commands of their own now",
    ).toEqual([]);
  });

  test("those written by hand stand in the group of their module, each for a reason", async () => {
    const ofModules = Object.entries(own).map(([module, specs]) => wordsOf(specs, [module]));
    const words = (await Promise.all(ofModules)).flat();
    expect(words.length).toBeGreaterThan(3);
    expect(words.filter((each) => !commands.includes(each))).toEqual([]);
    const inPlace = Object.entries(BY_HAND).map(([rpc, [command]]) => (rpc.includes(`.${service}/`) ? command : ""));
    const known = [...inPlace.filter((command) => command !== ""), ...Object.keys(BESIDE)];
    expect(words.filter((each) => !known.includes(each))).toEqual([]);
    expect(inPlace.filter((command) => command !== "" && !words.includes(command))).toEqual([]);
  });

  test("every command that replaces no rpc exists", () => {
    const all = TREES.flatMap(([, each]) => each);
    expect(Object.keys(BESIDE).filter((each) => !all.includes(each))).toEqual([]);
  });
});
