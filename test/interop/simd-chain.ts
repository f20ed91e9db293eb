import { once } from "node:events";
import { runSvcHere, svcHereOk } from "../cli/run.ts";
import { freePorts, type SvcResult, waitFor } from "../support/index.ts";
import type { Peer, PeerProcess, PeerRan } from "./peers.ts";
import { makeSimdHome, type SimdGenesis, type SimdHome } from "./simd-home.ts";

export interface SimdChainOptions {
  readonly chainId?: string;
  /** Bech32 prefix of the network; one that no built-in profile has unless it is given. */
  readonly prefix?: string;
  /** Names of accounts beside `validator`; their keys are in the keyrings of both tools. */
  readonly accounts?: readonly string[];
  /** Initial balance of each account. */
  readonly balance?: string;
  readonly blockTimeMs?: number;
  /** How long unbonding takes. */
  readonly unbondingSeconds?: number;
  /** Changes the genesis document in place before the chain starts. */
  readonly changeGenesis?: (genesis: SimdGenesis) => void;
  /** Like `changeGenesis`, past the checks of the tool: for periods that it finds too short. */
  readonly finishGenesis?: (genesis: SimdGenesis) => void;
}

/** So much that other validators can join without the chain waiting for their votes. */
const BONDED = "100000000000stake";
const BALANCE = "1000000000000stake,1000000000uvec";
const STOP_TIMEOUT_MS = 20_000;
/** Commands of the tool that print transactions and signatures, whatever the output format. */
const FILE_COMMANDS = ["sign", "sign-batch", "multisign", "validate-signatures"];
const LOCAL_COMMANDS = ["encode", "decode"];

interface ChainParts extends SimdHome {
  readonly peer: Peer;
  readonly node: PeerProcess;
  readonly chainId: string;
  readonly prefix: string;
  readonly url: string;
  readonly api: string;
  readonly grpcPort: number;
}

/** A running chain of one validator of a reference tool, and both tools set up as its clients. */
export class SimdChain {
  readonly #parts: ChainParts;

  constructor(parts: ChainParts) {
    this.#parts = parts;
  }

  get chainId(): string {
    return this.#parts.chainId;
  }

  /** As `--node` takes it. */
  get url(): string {
    return this.#parts.url;
  }

  /** Where REST is, as `http://host:port`. */
  get api(): string {
    return this.#parts.api;
  }

  /** Where gRPC is, on the loopback. */
  get grpcPort(): number {
    return this.#parts.grpcPort;
  }

  /** Process id of the node. */
  get pid(): number {
    return this.#parts.node.process.pid ?? 0;
  }

  /** Home of the reference tool: keys, configuration, data. */
  get home(): string {
    return this.#parts.home;
  }

  /** Operator address of the validator. */
  get validator(): string {
    return this.#parts.validator;
  }

  /** Address of an account; throws when there is none of this name. */
  address(name: string): string {
    const found = this.#parts.addresses[name];
    if (found === undefined) throw new Error(`the chain has no account ${name}`);
    return found;
  }

  /** Runs the reference tool with its keyring and, for `query` and `tx`, against the chain, answers in JSON. */
  run(args: readonly string[], input = ""): Promise<PeerRan> {
    return this.#parts.peer.run(this.#flagged(args), { input, prefix: this.#parts.prefix });
  }

  /** Like `run`; throws with the tool's own output when it fails. Returns standard output. */
  ok(args: readonly string[], input = ""): Promise<string> {
    return this.#parts.peer.ok(this.#flagged(args), { input, prefix: this.#parts.prefix });
  }

  /** The reference tool's answer to a query. */
  async query(...args: readonly string[]) {
    return JSON.parse(await this.ok(["query", ...args]));
  }

  /** The answer of the node's REST interface to a path below `/cosmos`, at a height or the latest. */
  async rest(path: string, height?: number) {
    const headers: Record<string, string> = height === undefined ? {} : { "x-cosmos-block-height": `${height}` };
    const response = await fetch(`${this.#parts.api}/cosmos/${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return JSON.parse(await response.text());
  }

  /** Runs `svc` with a profile of this network and its own keyring: at night the built one, in a process of its own. */
  svc(args: readonly string[], input?: string): Promise<SvcResult> {
    return runSvcHere(args, this.#svcRequest(input));
  }

  /** Like `svc`; throws with the command's own output when it fails. Returns standard output. */
  svcOk(args: readonly string[], input?: string): Promise<string> {
    return svcHereOk(args, this.#svcRequest(input));
  }

  /** The answer of `svc` to a query. */
  async svcQuery(...args: readonly string[]) {
    return JSON.parse(await this.svcOk(["query", ...args, "-o", "json"]));
  }

  /** Sends a transaction with `svc` and waits for its block; throws when it fails. `args` begin behind `tx`. */
  async svcTx(...args: readonly string[]) {
    return JSON.parse(await this.svcOk(["tx", ...args, "-y", "-b", "block"]));
  }

  /** Sends a transaction with the reference tool and waits for its block; throws when it fails. */
  async tx(...args: readonly string[]) {
    return this.committed(await this.ok(["tx", ...args, "-y"]));
  }

  /**
   * The result of a broadcast transaction once it is in a block, as JSON-RPC has it; throws when it failed. (The reference
   * tool, a process of its own each time, takes a third of a second of the processor.)
   */
  async committed(answer: string) {
    const { txhash, code, raw_log } = JSON.parse(answer);
    if (code !== 0) throw new Error(`refused with code ${code}: ${raw_log}`);
    const found = await waitFor(async () => (await this.#rpc(`tx?hash=0x${txhash}`)).result, `transaction ${txhash}`);
    const result = found.tx_result;
    if (result.code !== 0) throw new Error(`failed with code ${result.code}: ${result.log}`);
    return result;
  }

  /** Height of the latest block. */
  async height(): Promise<number> {
    const { result } = await this.#rpc("status");
    return Number(result.sync_info.latest_block_height);
  }

  /** Waits for this many more blocks. */
  async blocks(count: number): Promise<void> {
    const target = (await this.height()) + count;
    await waitFor(async () => (await this.height()) >= target, `block ${target}`);
  }

  /** Ends the process and removes the home. */
  async stop(): Promise<void> {
    await endNode(this.#parts.node);
    this.#parts.peer.remove();
  }

  async #rpc(path: string) {
    const response = await fetch(`${this.url.replace("tcp:", "http:")}/${path}`);
    return JSON.parse(await response.text());
  }

  #flagged(args: readonly string[]): string[] {
    const [group = "", command = ""] = args;
    const keyring = ["--keyring-backend", "test"];
    const node = args.includes("--offline") ? [] : ["--node", this.url];
    const json = FILE_COMMANDS.includes(command) ? [] : ["--output", "json"];
    if (group === "keys") return [...args, ...keyring];
    if (group === "query") return [...args, ...node, ...json];
    if (group !== "tx" || LOCAL_COMMANDS.includes(command)) return [...args];
    return [...args, ...node, ...json, "--chain-id", this.chainId, ...keyring];
  }

  #svcRequest(input: string | undefined) {
    const env = { ...this.#parts.svcEnv, SVC_NODE: this.url, SVC_CHAIN_ID: this.chainId };
    return { env, ...(input === undefined ? {} : { input }) };
  }
}

/**
 * Makes a chain and starts it; resolves when it has made blocks. The chain takes the home of the tool and removes it at
 * its end. Chains of 0.42 have no REST interface here: no flag starts it.
 */
export async function startSimdChain(peer: Peer, options: SimdChainOptions = {}): Promise<SimdChain> {
  const { chainId = "simd-1", prefix = "peer" } = options;
  const home = await makeSimdHome(peer, {
    chainId,
    prefix,
    accounts: ["validator", ...(options.accounts ?? [])],
    balance: options.balance ?? BALANCE,
    bonded: BONDED,
    blockTimeMs: options.blockTimeMs ?? 200,
    finishGenesis: options.finishGenesis,
    changeGenesis: (genesis) => {
      const { staking } = genesis.app_state as { staking: { params: { unbonding_time: string } } };
      staking.params.unbonding_time = `${options.unbondingSeconds ?? 3_600}s`;
      options.changeGenesis?.(genesis);
    },
  });
  const ports = await freePorts(5);
  const [url = "", p2p = "", proxy = "", api = ""] = ports.map((port) => `tcp://127.0.0.1:${port}`);
  const listen = ["--rpc.laddr", url, "--p2p.laddr", p2p, "--address", proxy];
  const rest = peer.name === "simd42" ? [] : ["--api.address", api, "--api.enable", "--grpc-web.enable=false"];
  // Without its other interfaces this node simulates no transactions.
  const grpcPort = ports.at(-1) ?? 0;
  const grpc = ["--grpc.address", `127.0.0.1:${grpcPort}`];
  const others = [...rest, ...grpc, "--rpc.pprof_laddr", "", "--log_level", "error"];
  const state = ["--minimum-gas-prices", "0stake", "--pruning", "nothing"];
  const node = peer.start(["start", ...listen, ...others, ...state], { prefix });
  const chain = new SimdChain({
    ...home,
    peer,
    node,
    chainId,
    prefix,
    url,
    api: api.replace("tcp:", "http:"),
    grpcPort,
  });
  try {
    await waitFor(async () => node.ended() || (await chain.height()) >= 2, "the chain's first blocks");
    if (node.ended()) throw new Error(`the chain ended: ${node.output()}`);
    return chain;
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

/** Ends a node in order. */
export async function endNode({ process, ended }: PeerProcess): Promise<void> {
  if (ended()) return;
  const closed = once(process, "close");
  process.kill("SIGTERM");
  const timer = setTimeout(() => process.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await closed;
  clearTimeout(timer);
}
