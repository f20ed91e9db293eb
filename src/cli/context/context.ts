import { existsSync } from "node:fs";
import type { ChainClient, ChainOptions } from "../../client/index.ts";
import type { Keyring } from "../../keyring/index.ts";
import { printable } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { KEYRING_KDFS } from "../command/global-flags.ts";
import { homeOf, ownBlockPath, userPath } from "../command/home.ts";
import { inFlag } from "../command/in-flag.ts";
import { type NetworkProfile, OWN_PROFILE } from "../command/profile.ts";
import type { CommandInput } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import type { Io } from "../terminal/io.ts";
import { type OutputFormat, outputFormat } from "../terminal/output.ts";
import type { KeyringFlags } from "./keyring.ts";
import type { ProvenRecords } from "./verified.ts";

/** Shared parts of commands, created on first use, so that a command pays only for the ones it uses. */
export interface CliContext {
  readonly io: Io;
  readonly flags: Flags;
  /** Directory of configuration, data and keys. */
  readonly home: string;
  readonly output: OutputFormat;
  /** The network whose addresses and names are used. */
  readonly profile: NetworkProfile;
  /** Where the keys are. */
  readonly keys: KeyringFlags;
  /** The keyring of the flags, opened once; it asks for its passphrase at the first use of a key. */
  keyring(): Promise<Keyring>;
  /** The chain as the node of `--node` shows it. Nothing is sent before the first call. */
  chain(): Promise<ChainClient>;
  /** The chain, for answers that no proof covers, such as blocks. Throws `light/8` with `--verify require`. */
  unproven(what: string): Promise<ChainClient>;
  /** The chain as the node shows it, and the records that the node has to prove; none where no block is trusted. */
  partly(): Promise<PartlyProven>;
  /** `--chain-id`, otherwise what the node says. */
  chainId(): Promise<string>;
  /** `--height` of a query; undefined for the latest. */
  height(): bigint | undefined;
}

/** A chain for commands that find records without proof, and rely on proven ones alone. */
export interface PartlyProven {
  readonly chain: ChainClient;
  readonly proven: ProvenRecords | undefined;
}

/** The shared parts of a command, from its flags. */
export function createContext({ flags, io }: Pick<CommandInput, "flags" | "io">): CliContext {
  const keys = keyringOptions({ flags });
  const chain = once(async () => openNode(flags, io, await provenBy(flags, io)));
  return {
    io,
    flags,
    home: homeOf(flags),
    profile: flags.profile,
    output: outputFormat(flags, io),
    keys,
    keyring: once(async () => (await import("./keyring.ts")).cliKeyring(keys, io)),
    chain,
    unproven: async (what) => {
      await admitUnproven(flags, io, what);
      return chain();
    },
    async partly() {
      const plain = await openNode(flags, io, {});
      return { chain: plain, proven: await recordsOf(flags, plain) };
    },
    chainId: once(async () => flags.optional("chain-id") ?? (await chain()).chainId()),
    height: () => heightOf(flags),
  };
}

/** A malformed address is a wrong command line; whether a node is running there shows later. */
async function openNode(flags: Flags, io: Io, queryNode: Pick<ChainOptions, "queryNode">): Promise<ChainClient> {
  const { ChainClient } = await import("../../client/index.ts");
  const { namespace, aminoNames } = flags.profile;
  const chainId = flags.optional("chain-id");
  // Requests that a node refuses for the moment are repeated.
  const onRetry = (text: string): void => io.err(`${printable(text)}\n`);
  const options = { namespace, aminoNames, onRetry, ...queryNode, ...(chainId === undefined ? {} : { chainId }) };
  return inFlag(flags, "node", () => new ChainClient(flags.text("node"), options));
}

/** Says that an answer is believed without a proof, where a block is trusted; refuses it where proofs are required. */
export async function admitUnproven(flags: Flags, io: Io, what: string): Promise<void> {
  const mode = flags.text("verify");
  if (mode === "require") {
    const { lightErrors } = await import("../../light/index.ts");
    throw lightErrors.unprovable(what);
  }
  if (mode === "on" && hasTrust(flags)) io.err(`not verified: ${what} cannot be proven\n`);
}

/** The way to answers with proofs, for queries on our own chains where a trusted block is set. */
async function provenBy(flags: Flags, io: Io): Promise<Pick<ChainOptions, "queryNode">> {
  const makeLight = await trustOf(flags);
  if (makeLight === undefined) {
    if (flags.text("verify") === "on" && hasTrust(flags))
      io.err("not verified: the home's trusted block is of another chain\n");
    return {};
  }
  const { tellingNode } = await import("./verified.ts");
  const required = flags.text("verify") === "require";
  return { queryNode: (node) => tellingNode(node, makeLight(node), { io, required }) };
}

/** Light clients from the trusted block; undefined where none is wanted or set. */
async function trustOf(flags: Flags) {
  const mode = flags.text("verify");
  if (mode === "" || mode === "off") return undefined;
  if (hasTrust(flags)) {
    const { lightClients } = await import("./verified.ts");
    const { trust } = flags.profile;
    const makeLight = lightClients({ trust, home: homeOf(flags), chainId: flags.optional("chain-id") });
    if (makeLight !== undefined) return makeLight;
  }
  if (mode !== "require") return undefined;
  throw usageError(
    `${flags.label("verify")}: no trusted block is set`,
    "get height and hash of a block from people you trust: svc config trust <height> <hash>",
  );
}

/** The records of a chain that its node has to prove; undefined where no block is trusted. */
async function recordsOf(flags: Flags, chain: ChainClient): Promise<ProvenRecords | undefined> {
  const makeLight = await trustOf(flags);
  if (makeLight === undefined) return undefined;
  const { provenRecords } = await import("./verified.ts");
  return provenRecords(chain, makeLight(chain.node), flags.text("verify") === "require");
}

/** Whether a block is trusted for the network: one of `client.toml`, or the home's own node wrote one. */
function hasTrust(flags: Flags): boolean {
  const { trust, namespace, name } = flags.profile;
  if (namespace !== "sdk") return false;
  return trust.hash !== "" || (name === OWN_PROFILE.name && existsSync(ownBlockPath(homeOf(flags))));
}

/** Where the keys are, from the flags that all commands with keys share. */
export function keyringOptions({ flags }: Pick<CommandInput, "flags">): KeyringFlags {
  const dir = flags.optional("keyring-dir");
  return {
    home: homeOf(flags),
    keyringBackend: flags.text("keyring-backend"),
    prefix: flags.profile.bech32Prefix,
    keyringDir: dir === undefined ? undefined : userPath(dir),
    keyringService: flags.optional("keyring-service"),
    keyringKdf: KEYRING_KDFS.find((each) => each === flags.text("keyring-kdf")),
    keyringPassphraseFile: flags.optional("keyring-passphrase-file"),
  };
}

const MAX_HEIGHT = (1n << 63n) - 1n;

function heightOf(flags: Flags): bigint | undefined {
  const height = flags.uint("height");
  if (height > MAX_HEIGHT) throw usageError(`${flags.label("height")}: ${height} is more than any height`);
  return height === 0n ? undefined : height;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
