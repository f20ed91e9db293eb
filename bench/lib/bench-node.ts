import { type Fixture, freePorts, svcOk, TestNode } from "../../test/support/index.ts";
import { fundAccounts } from "./load-accounts.ts";

/** Settings of the node under load: a block a second, durable commits, application hash, quiet log. */
const FLAGS = ["--block-interval", "1s", "--minimum-gas-prices", "0utoken", "--log_level", "error"];

/** `BENCH_PROFILE=<folder>` leaves a CPU profile of each node there. */
export function profiling(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** Where the interfaces of a node under load listen, on the loopback. */
export interface BenchPorts {
  readonly port: number;
  readonly restPort: number;
  readonly grpcPort: number;
}

export interface BenchNodeSettings {
  /** Additional flags of the command. */
  readonly flags?: readonly string[];
  /** Changes the home before the start. */
  readonly prepare?: (home: string) => void;
  /** Flags of Node.js. */
  readonly nodeFlags?: readonly string[];
  /** The path of another build of the program, whose node answers over JSON-RPC alone. */
  readonly main?: string;
}

/** A fresh chain in its own process with funded accounts. */
export async function startBenchNode(
  fixture: Fixture,
  addresses: readonly string[],
  { flags = [], prepare = () => {}, nodeFlags = [], main }: BenchNodeSettings = {},
): Promise<TestNode & BenchPorts> {
  const home = fixture.tempHome();
  const chainId = "svc-bench-1";
  const program = main === undefined ? {} : { main };
  await svcOk(["init", "validator", "--chain-id", chainId, "--home", home], program);
  fundAccounts(home, addresses);
  prepare(home);
  const [port = 0, restPort = 0, grpcPort = 0] = await freePorts(3);
  const rest = ["--api.enable", "--api.address", `tcp://127.0.0.1:${restPort}`];
  const others = main === undefined ? [...rest, "--grpc.address", `127.0.0.1:${grpcPort}`] : [];
  const args = ["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`, ...others, ...FLAGS, ...flags];
  const parts = { home, chainId, port, args, nodeFlags: [...profiling(), ...nodeFlags], ...program };
  const node = new TestNode(fixture, parts);
  await node.start();
  // V8 writes its profile when a process ends by itself.
  if (process.env.BENCH_PROFILE !== undefined) fixture.defer(() => node.process.stop());
  return Object.assign(node, { port, restPort, grpcPort });
}
