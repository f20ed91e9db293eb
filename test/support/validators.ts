import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addGenesisAccounts, type GenesisAccount, homePaths } from "../../src/node/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import { PORT_STEP, PORTS } from "../../src/util/index.ts";
import type { Fixture } from "./fixture.ts";
import { type GenesisFile, TestNode } from "./node.ts";
import { freeOffset } from "./ports.ts";
import { runSvc } from "./run-svc.ts";

/** Several nodes start beside one another. */
const FIRST_BLOCK_WITHIN_MS = 120_000;

export interface ValidatorsRequest {
  readonly count: number;
  readonly chainId: string;
  /** Path of CometBFT's program. */
  readonly program: string;
  /** Another account than the operators. */
  readonly account: TestKey;
  /** Accounts beside it. */
  readonly accounts?: readonly GenesisAccount[];
  readonly flags?: readonly string[];
  /** Default 200. */
  readonly blockIntervalMs?: number;
  /** Flags of Node.js itself. */
  readonly nodeFlags?: readonly string[];
  /** Changes the genesis file of all before the start. */
  readonly editGenesis?: (genesis: GenesisFile) => void;
}

/** Starts validators that make one chain, each a node with CometBFT as its child, by the commands of `svc testnet`. */
export async function startValidators(fixture: Fixture, request: ValidatorsRequest): Promise<TestNode[]> {
  const { count, chainId, program, flags = [], blockIntervalMs = 300, nodeFlags = [] } = request;
  const shifts = Array.from({ length: count }, (_, i) => i * PORT_STEP);
  const offset = await freeOffset(shifts.flatMap((shift) => [PORTS.p2p + shift, PORTS.rpc + shift]));
  const place = ["--single-machine", "--port-offset", String(offset), "-o", join(fixture.folder, "network")];
  const { code, stderr } = await runSvc(["testnet", "--v", String(count), "--chain-id", chainId, ...place]);
  if (code !== 0) throw new Error(stderr);
  const commands = stderr.split("\n").filter((line) => line.startsWith("svc start "));
  const homes = commands.map((line) => line.split(" ").at(-1) ?? "");
  shareGenesis(homes, request);
  // A chain of one has the embedded engine by default.
  const engine = [...(count === 1 ? ["--engine", "cometbft"] : []), "--cometbft", program];
  const own = [...engine, "--block-interval", `${blockIntervalMs}ms`];
  const fees = ["--grpc.enable=false", "--minimum-gas-prices", "0utoken"];
  const nodes = commands.map((line, i) => {
    const args = [...line.split(" ").slice(1), ...own, ...fees, ...flags];
    const port = PORTS.rpc + offset + (shifts[i] ?? 0);
    return new TestNode(fixture, {
      ...{ home: homes[i] ?? "", chainId, port, args, nodeFlags },
      firstBlockWithinMs: FIRST_BLOCK_WITHIN_MS,
    });
  });
  await Promise.all(nodes.map((node) => node.start()));
  return nodes;
}

/** Changes the genesis file that all homes have. */
export function shareGenesis(
  [first = "", ...others]: readonly string[],
  request: Pick<ValidatorsRequest, "account" | "accounts" | "editGenesis">,
): void {
  const { account, accounts = [], editGenesis } = request;
  const funded = { address: account.address, coins: [{ denom: "utoken", amount: 1_000_000n }] };
  addGenesisAccounts(first, [funded, ...accounts]);
  const { genesis: path } = homePaths(first);
  const genesis = JSON.parse(readFileSync(path, "utf8"));
  editGenesis?.(genesis);
  writeFileSync(path, JSON.stringify(genesis));
  for (const home of others) copyFileSync(path, homePaths(home).genesis);
}

/** The process of CometBFT that a node has started. */
export function enginePid({ process: { pid } }: TestNode, program: string): number {
  const threads = `/proc/${pid}/task`;
  const children = readdirSync(threads).flatMap((id) => readFileSync(`${threads}/${id}/children`, "utf8").split(" "));
  return Number(children.find((id) => id !== "" && readFileSync(`/proc/${id}/cmdline`, "utf8").startsWith(program)));
}
