import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svcHereOk } from "../cli/run.ts";
import type { Peer } from "./peers.ts";

/** A genesis document, as far as tests change it before a chain starts. */
export interface SimdGenesis {
  readonly app_state: Readonly<Record<string, Record<string, unknown>>>;
  readonly [name: string]: unknown;
}

export interface SimdHomeOptions {
  readonly chainId: string;
  /** Bech32 prefix of the network. */
  readonly prefix: string;
  /** Names of keys, made in the keyrings of both tools. */
  readonly accounts: readonly string[];
  /** Initial balance of each account. */
  readonly balance: string;
  /** Coins that the account `validator` bonds at the start. */
  readonly bonded: string;
  readonly blockTimeMs: number;
  readonly changeGenesis: (genesis: SimdGenesis) => void;
  /** Like `changeGenesis`, past the checks of the tool: for periods that it finds too short. */
  readonly finishGenesis?: ((genesis: SimdGenesis) => void) | undefined;
}

/** The home of a node that has not started yet. */
export interface SimdHome {
  readonly home: string;
  /** Settings of `svc` for this network, as environment. */
  readonly svcEnv: Readonly<Record<string, string>>;
  /** Address of each account. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Operator address of the account `validator`. */
  readonly validator: string;
}

const KEYRING = ["--keyring-backend", "test"];

/** Makes keys, the genesis document and the configuration of a chain with one validator. */
export async function makeSimdHome(peer: Peer, options: SimdHomeOptions): Promise<SimdHome> {
  const { chainId, prefix } = options;
  const home = join(peer.home, ".simapp");
  const ok = (args: readonly string[]) => peer.ok(args, { prefix });
  // Its commands on the genesis document had no group of their own once.
  const genesis = (...words: readonly string[]) => ok(peer.name === "simd42" ? words : ["genesis", ...words]);
  await ok(["init", "interop", "--chain-id", chainId]);
  const svcEnv = await profileOf(join(home, "svc"), prefix);
  const addresses: Record<string, string> = {};
  for (const name of options.accounts) {
    const { address, mnemonic } = JSON.parse(await ok(["keys", "add", name, "--output", "json", ...KEYRING]));
    await svcHereOk(["keys", "add", name, "--recover"], { env: svcEnv, input: `${mnemonic}\n` });
    await genesis("add-genesis-account", address, options.balance);
    addresses[name] = address;
  }
  changeGenesis(join(home, "config", "genesis.json"), options.changeGenesis);
  await genesis("gentx", "validator", options.bonded, "--chain-id", chainId, ...KEYRING);
  await genesis("collect-gentxs");
  if (options.finishGenesis !== undefined) changeGenesis(join(home, "config", "genesis.json"), options.finishGenesis);
  quicken(join(home, "config", "config.toml"), options.blockTimeMs);
  const operator = await ok(["keys", "show", "validator", "-a", "--bech", "val", ...KEYRING]);
  return { home, svcEnv, addresses, validator: operator.trim() };
}

/** `svc` learns of the network as a user teaches it: by a profile in `client.toml`. */
async function profileOf(home: string, prefix: string): Promise<Record<string, string>> {
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" };
  const settings = { "bech32-prefix": prefix, denom: "stake", namespace: "cosmos" };
  for (const [key, value] of Object.entries(settings)) {
    await svcHereOk(["config", "set", key, value, "--profile", "peer"], { env });
  }
  return { ...env, SVC_PROFILE: "peer" };
}

function changeGenesis(path: string, change: (genesis: SimdGenesis) => void): void {
  const document = JSON.parse(readFileSync(path, "utf8")) as SimdGenesis;
  change(document);
  writeFileSync(path, JSON.stringify(document));
}

/** Sets the time between blocks: the only validator waits for no other votes. */
function quicken(path: string, blockTimeMs: number): void {
  const text = readFileSync(path, "utf8");
  const changed = text.replace(/^timeout_commit = .*$/m, `timeout_commit = "${blockTimeMs}ms"`);
  if (changed === text) throw new Error(`${path} names no timeout_commit`);
  writeFileSync(path, changed);
}
