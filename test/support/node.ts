import { readFileSync, writeFileSync } from "node:fs";
import { ChainClient } from "../../src/client/index.ts";
import { addGenesisAccounts, type GenesisAccount, homePaths } from "../../src/node/index.ts";
import type { Fixture } from "./fixture.ts";
import { freePorts } from "./ports.ts";
import { svcOk } from "./run-svc.ts";
import type { SvcProcess } from "./svc-process.ts";
import { PATIENCE_MS, waitFor } from "./wait.ts";

/** The parts of a genesis file that tests change. */
export interface GenesisFile {
  readonly consensus_params: { readonly block: Record<"max_bytes" | "max_gas", string> };
  readonly app_state: Record<string, Record<string, unknown>>;
}

export interface NodeRequest {
  readonly chainId?: string;
  /** Default 300. */
  readonly blockIntervalMs?: number;
  /** After each block; only where the chain is the subject, because it takes a third of an empty block's time. */
  readonly checkInvariants?: boolean;
  /** Default 0, as in a localnet. */
  readonly minGasPrices?: string;
  readonly accounts?: readonly GenesisAccount[];
  /** Changes the genesis file before the start. */
  readonly editGenesis?: (genesis: GenesisFile) => void;
  /** Changes the home after that, before the start. */
  readonly editHome?: (home: string) => void;
  /** How long the first block may take; `PATIENCE_MS` unless given. */
  readonly firstBlockWithinMs?: number;
  /** Flags of Node.js itself. */
  readonly nodeFlags?: readonly string[];
  readonly flags?: readonly string[];
  /** The path of another build of the program, which makes the home and runs first. */
  readonly main?: string;
}

export interface NodeParts {
  readonly home: string;
  readonly chainId: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  readonly args: readonly string[];
  /** Words before the program: where it runs. */
  readonly prefix?: readonly string[];
  /** Flags of Node.js itself. */
  readonly nodeFlags?: readonly string[];
  /** The path of another build of the program. */
  readonly main?: string;
  readonly firstBlockWithinMs?: number;
}

/** A node in its own process, on a home and a port that survive restarts. */
export class TestNode {
  readonly home: string;
  readonly chainId: string;
  /** As `--node` takes it. */
  readonly address: string;
  readonly #fixture: Fixture;
  readonly #parts: NodeParts;
  #process: SvcProcess | undefined;

  constructor(fixture: Fixture, parts: NodeParts) {
    this.#fixture = fixture;
    this.home = parts.home;
    this.chainId = parts.chainId;
    this.address = `tcp://${parts.host ?? "127.0.0.1"}:${parts.port}`;
    this.#parts = parts;
  }

  /** Words of its command line. */
  get args(): readonly string[] {
    return this.#parts.args;
  }

  get process(): SvcProcess {
    if (this.#process === undefined) throw new Error("the node was not started");
    return this.#process;
  }

  /** Starts the process and waits until it has made a block; the height of that block. */
  async start({ main }: Pick<NodeParts, "main"> = this.#parts): Promise<bigint> {
    const { args, nodeFlags = [], prefix = [], firstBlockWithinMs: timeoutMs = PATIENCE_MS } = this.#parts;
    const program = main === undefined ? {} : { main };
    this.#process = await this.#fixture.start("node", args, { home: this.home, nodeFlags, prefix, ...program });
    const client = this.client();
    try {
      const height = await waitFor(() => this.#firstHeight(client), "the node's first block", { timeoutMs });
      if (height === "ended") throw new Error(`the node ended: ${this.process.output}`);
      return height;
    } finally {
      client.close();
    }
  }

  async #firstHeight(client: ChainClient): Promise<bigint | "ended" | undefined> {
    if (!this.process.running) return "ended";
    const { latestHeight } = await client.node.status();
    return latestHeight > 0n ? latestHeight : undefined;
  }

  /** A client of this node, as patient as the tests; the caller closes it. */
  client(timeoutMs = PATIENCE_MS): ChainClient {
    return new ChainClient(this.address, { chainId: this.chainId, timeoutMs });
  }
}

/** Makes a home for its own chain with `svc init`, and starts the node. */
export async function startNode(fixture: Fixture, request: NodeRequest = {}): Promise<TestNode> {
  const { chainId = "svc-test-1", blockIntervalMs = 300, checkInvariants = false, minGasPrices = "0utoken" } = request;
  const home = fixture.tempHome("node");
  const program = request.main === undefined ? {} : { main: request.main };
  await svcOk(["init", "validator", "--chain-id", chainId, "--home", home], program);
  if (request.main === undefined) addGenesisAccounts(home, request.accounts ?? []);
  else for (const account of request.accounts ?? []) await addEarlier(home, account, program);
  if (request.editGenesis !== undefined) editGenesis(home, request.editGenesis);
  request.editHome?.(home);
  const [port = 0] = await freePorts(1);
  const args = [
    "start",
    ...["--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`],
    ...["--block-interval", `${blockIntervalMs}ms`, "--minimum-gas-prices", minGasPrices],
    ...(checkInvariants ? ["--check-invariants"] : []),
    ...(request.flags ?? []),
  ];
  const { firstBlockWithinMs = PATIENCE_MS, nodeFlags = [] } = request;
  const node = new TestNode(fixture, { home, chainId, port, args, nodeFlags, firstBlockWithinMs, ...program });
  await node.start();
  return node;
}

/** Adds an account with another build of the program, whose genesis file today's may not read. */
async function addEarlier(home: string, { address, coins }: GenesisAccount, program: { main?: string }): Promise<void> {
  const text = coins.map(({ amount, denom }) => `${amount}${denom}`).join(",");
  await svcOk(["add-genesis-account", address, text, "--home", home], program);
}

function editGenesis(home: string, edit: (genesis: GenesisFile) => void): void {
  const { genesis: path } = homePaths(home);
  const genesis: GenesisFile = JSON.parse(readFileSync(path, "utf8"));
  edit(genesis);
  writeFileSync(path, JSON.stringify(genesis));
}
