import { encodeAddress, isAddress } from "../../wire/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import type { Flags } from "../command/flags.ts";
import type { CommandSpec } from "../command/spec.ts";
import { keyringOptions } from "../context/context.ts";
import { TOPICS } from "../help/topics.ts";

/** A candidate and its description. Words that begin with a colon are rules for the completion script. */
export interface Candidate {
  readonly word: string;
  readonly summary: string;
}

/** Where words for a flag or an argument come from. */
type Source = "keys" | "deployments" | "providers" | "topics" | "files" | "directories";

export const FLAGS: Readonly<Record<string, Source>> = {
  from: "keys",
  multisig: "keys",
  dseq: "deployments",
  provider: "providers",
};

/** Arguments in the spelling of the usage, of all commands or of one. */
export const ARGUMENTS: Readonly<Record<string, Source>> = {
  "<from-key-or-address>": "keys",
  "<granter-key-or-address>": "keys",
  "<address_or_key>": "keys",
  "<multisig>": "keys",
  "<old-name>": "keys",
  "<names...>": "keys",
  "keys export <name>": "keys",
  "gentx <key>": "keys",
  "[dseq]": "deployments",
  "<provider>": "providers",
  "query provider get <owner>": "providers",
  "query audit get <owner>": "providers",
  "provider status <address>": "providers",
  "provider verify <address>": "providers",
  "<signatures...>": "files",
  "[old-dir]": "directories",
  "[topic]": "topics",
};

/** Longest wait for one answer of a node. */
const NODE_TIMEOUT_MS = 1000;
/** Number of deployments of an account, or of providers, that are offered. */
const MAX_OFFERED = 100n;
/** Number of accounts of the keyring whose deployments are offered. */
const MAX_ACCOUNTS = 8;
/** Words that no shell needs in quotes: nothing that a file or a node holds becomes a command. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_.@-]*$/;

export function sourceOfFlag({ name, value = "" }: FlagSpec): Source | undefined {
  return FLAGS[name] ?? (value.includes("file") ? "files" : value.includes("dir") ? "directories" : undefined);
}

/** The source of the next argument of a command, named by its words, after some others. */
export function sourceOfArgument(path: readonly CommandSpec[], given: number): Source | undefined {
  const args = path.at(-1)?.args?.split(/\s+(?=[<[])/) ?? [];
  const last = args.at(-1);
  const form = args[given] ?? (last?.includes("...") === true ? last : undefined);
  if (form === undefined) return undefined;
  const place = path.map(({ name }) => name).join(" ");
  return ARGUMENTS[`${place} ${form}`] ?? ARGUMENTS[form] ?? (form.includes("file") ? "files" : undefined);
}

/** Everything that a source has. */
export async function valuesOf(source: Source | undefined, flags: Flags): Promise<readonly Candidate[]> {
  switch (source) {
    case "files":
    case "directories":
      return [{ word: `:${source}`, summary: "" }];
    case "keys":
      return (await keysThere(flags)).names.map((word) => ({ word, summary: "key" })).filter(isPlain);
    case "deployments":
      return (await deployments(flags)).filter(isPlain);
    case "providers":
      return (await providers(flags)).filter(isPlain);
    case "topics":
      return TOPICS.map(({ name, summary }) => ({ word: name, summary }));
    case undefined:
      return [];
  }
}

function isPlain({ word }: Candidate): boolean {
  return PLAIN.test(word);
}

/** Back ends whose names of keys can be read without a question; "os" keeps them in files where no desktop runs. */
const SILENT: ReadonlyMap<string, string> = new Map([
  ["test", "test"],
  ["file", "file"],
  ["os", "file"],
]);

async function keysThere(flags: Flags) {
  const { keyringBackend, keyringDir, home } = keyringOptions({ flags });
  const backend = SILENT.get(keyringBackend);
  if (backend === undefined) return { names: [], addresses: [] };
  const { fixedPassphrase, openKeyring } = await import("../../keyring/index.ts");
  const parts = { passphrase: fixedPassphrase(""), notify: () => {} };
  return openKeyring({ backend, dir: keyringDir ?? home, ...parts }).outline();
}

/** Latest first, of the owner or the signer that the command line names, otherwise of all keys. */
async function deployments(flags: Flags): Promise<Candidate[]> {
  const owners = await ownersOf(flags);
  const { Query } = await import("../../wire/gen/svc/deployment/v1beta1/query_pb.js");
  const { Deployment_State } = await import("../../wire/gen/svc/deployment/v1beta1/deployment_pb.js");
  return atNode(flags, async ({ query }) => {
    const pagination = { limit: MAX_OFFERED, reverse: true };
    const pages = await Promise.all(
      owners.map((owner) => query.call(Query.method.deployments, { filters: { owner }, pagination })),
    );
    return pages.flatMap((page) =>
      page.deployments.flatMap(({ deployment }) =>
        deployment?.deploymentId === undefined
          ? []
          : [{ word: String(deployment.deploymentId.dseq), summary: Deployment_State[deployment.state] ?? "" }],
      ),
    );
  });
}

async function ownersOf(flags: Flags): Promise<string[]> {
  const { bech32Prefix } = flags.profile;
  const named = flags.optional("owner") ?? flags.text("from");
  if (isAddress(named, "account", bech32Prefix)) return [named];
  const { addresses } = await keysThere(flags);
  return addresses.slice(0, MAX_ACCOUNTS).map((bytes) => encodeAddress(bytes, "account", bech32Prefix));
}

async function providers(flags: Flags): Promise<Candidate[]> {
  const { Query } = await import("../../wire/gen/svc/provider/v1beta1/provider_pb.js");
  return atNode(flags, async ({ query }) => {
    const page = await query.call(Query.method.providers, { pagination: { limit: MAX_OFFERED } });
    return page.providers.map(({ owner, hostUri }) => ({ word: owner, summary: hostUri }));
  });
}

type Chain = InstanceType<typeof import("../../client/index.ts").ChainClient>;

async function atNode(flags: Flags, ask: (chain: Chain) => Promise<Candidate[]>): Promise<Candidate[]> {
  const { ChainClient } = await import("../../client/index.ts");
  const chain = new ChainClient(flags.text("node"), {
    namespace: flags.profile.namespace,
    timeoutMs: NODE_TIMEOUT_MS,
  });
  try {
    return await ask(chain);
  } finally {
    chain.close();
  }
}
