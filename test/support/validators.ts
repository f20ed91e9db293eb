import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { addGenesisAccounts, type GenesisAccount, homeNodeId, homePaths, initHome } from "../../src/node/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import type { Fixture } from "./fixture.ts";
import { type GenesisFile, TestNode } from "./node.ts";
import { freePorts } from "./ports.ts";

export interface ValidatorsRequest {
  readonly count: number;
  readonly chainId: string;
  /** Path of CometBFT's program. */
  readonly program: string;
  /** The only account. */
  readonly account: TestKey;
  /** Accounts beside it. */
  readonly accounts?: readonly GenesisAccount[];
  readonly flags?: readonly string[];
  /** Changes the genesis file of all before the start. */
  readonly editGenesis?: (genesis: GenesisFile) => void;
}

/** Starts validators that make one chain, each a node with CometBFT as its child. */
export async function startValidators(fixture: Fixture, request: ValidatorsRequest): Promise<TestNode[]> {
  const { count, chainId, program, account, accounts = [], editGenesis, flags = [] } = request;
  const homes = Array.from({ length: count }, (_, i) => fixture.tempHome(`validator-${i}`));
  for (const home of homes) initHome({ home, moniker: "v", chainId });
  const [first = ""] = homes;
  addGenesisAccounts(first, [
    { address: account.address, coins: [{ denom: "utoken", amount: 1_000_000n }] },
    ...accounts,
  ]);
  shareGenesis(homes, editGenesis);
  const ports = await freePorts(2 * count);
  const peers = homes.map((home, i) => `${homeNodeId(home)}@127.0.0.1:${ports[i]}`).join(",");
  const nodes = homes.map((home, i) => {
    // All nodes have the address of this machine.
    appendFileSync(
      `${homePaths(home).config}/config.toml`,
      "[cometbft.p2p]\naddr_book_strict = false\nallow_duplicate_ip = true\n",
    );
    const port = ports[count + i] ?? 0;
    const engine = ["--engine", "cometbft", "--cometbft", program, "--p2p.laddr", `tcp://127.0.0.1:${ports[i]}`];
    const args = ["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`, "--block-interval", "200ms"];
    const fees = ["--grpc.enable=false", "--minimum-gas-prices", "0utoken"];
    const all = [...args, ...engine, "--p2p.persistent_peers", peers, ...fees, ...flags];
    return new TestNode(fixture, { home, chainId, port, args: all });
  });
  await Promise.all(nodes.map((node) => node.start()));
  return nodes;
}

/** One genesis file for all homes, with the validator of each. */
function shareGenesis(homes: readonly string[], edit: ValidatorsRequest["editGenesis"]): void {
  const files = homes.map((home) => JSON.parse(readFileSync(homePaths(home).genesis, "utf8")));
  const validators = files.flatMap((file) => file.validators);
  const genesis = { ...files[0], validators };
  edit?.(genesis);
  for (const home of homes) writeFileSync(homePaths(home).genesis, JSON.stringify(genesis));
}
