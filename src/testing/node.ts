import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addGenesisAccounts, initHome, type Node, nodeConfig, startNode } from "../node/index.ts";
import { assert, type IntCoin, NATIVE_DENOM, silentLogger } from "../util/index.ts";
import { type TestKey, testKey } from "./keys.ts";

/** Initial state and settings of a test node's chain. */
export interface TestNodeOptions {
  /** Names of the accounts that have coins from the start; `alice`, `bob`, `carol`, `dave` unless given. */
  readonly accounts?: readonly string[];
  /** Balance of each account; 10^12 `utoken` unless given. */
  readonly coins?: readonly IntCoin[];
  /** `test-1` unless given. */
  readonly chainId?: string;
  /** Milliseconds between two blocks; 100 unless given, which is the least. */
  readonly blockIntervalMs?: number;
  /** For example `0.0025utoken`; free unless given. */
  readonly minGasPrices?: string;
  /** Origins of web pages that may use the node, `*` for all; none unless given. */
  readonly corsOrigins?: readonly string[];
}

/** A node of the real chain in this process, with a home that is removed when it stops. */
export class TestNode {
  readonly chainId: string;
  /** As `ChainClient` takes it: `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly #node: Node;
  readonly #keys: ReadonlyMap<string, TestKey>;
  readonly #cleanUp: () => void;

  constructor(node: Node, chainId: string, home: { readonly keys: readonly TestKey[]; readonly cleanUp: () => void }) {
    this.#node = node;
    this.chainId = chainId;
    this.url = node.rpcUrl;
    this.#keys = new Map(home.keys.map((key) => [key.name, key]));
    this.#cleanUp = home.cleanUp;
  }

  /** A funded key by its name. */
  key(name: string): TestKey {
    const found = this.#keys.get(name);
    assert(found !== undefined, `the test node was made without the account ${name}`);
    return found;
  }

  /** Ends the node and removes its home. */
  async stop(): Promise<void> {
    await this.#node.stop();
    this.#cleanUp();
  }
}

/**
 * Starts a node with its own chain on a free port, for tests of clients. Its home is in the directory for temporary
 * files until it is stopped.
 */
export async function testNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const { chainId = "test-1", blockIntervalMs = 100, minGasPrices = "", corsOrigins = [] } = options;
  const keys = (options.accounts ?? ["alice", "bob", "carol", "dave"]).map(testKey);
  const coins = options.coins ?? [{ denom: NATIVE_DENOM, amount: 10n ** 12n }];
  const root = mkdtempSync(join(tmpdir(), "svc-test-node-"));
  const cleanUp = (): void => rmSync(root, { recursive: true, force: true });
  try {
    const home = join(root, "home");
    initHome({ home, moniker: "test", chainId });
    addGenesisAccounts(
      home,
      keys.map(({ address }) => ({ address, coins })),
    );
    const config = nodeConfig({
      "rpc.laddr": "tcp://127.0.0.1:0",
      "grpc.enable": "false",
      "block-interval": `${blockIntervalMs}ms`,
      "minimum-gas-prices": minGasPrices,
      "rpc.cors-allowed-origins": corsOrigins.join(","),
    });
    const node = await startNode({ home, config, logger: silentLogger, version: "v0.0.0" });
    return new TestNode(node, chainId, { keys, cleanUp });
  } catch (error) {
    cleanUp();
    throw error;
  }
}
