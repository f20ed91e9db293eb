import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { accountInfo } from "../../../src/client/index.ts";
import { type GenesisAccount, homeNodeId, homePaths } from "../../../src/node/index.ts";
import { testKey } from "../../../src/testing/index.ts";
import { fromBase64 } from "../../../src/util/index.ts";
import { decodeTx, txHash, txSigners } from "../../../src/wire/index.ts";
import { buildPeer, Peer } from "../../interop/peers.ts";
import { answerOf, expectSameBlocks, heightAt, notThere, txsUpTo } from "../../support/agreement.ts";
import { childrenOf } from "../../support/children.ts";
import {
  Fixture,
  type GenesisFile,
  pause,
  type Rng,
  runSvc,
  seedFrom,
  TestNode,
  waitFor,
} from "../../support/index.ts";
import { Sends, senderKeys } from "../../support/sends.ts";
import { shareGenesis } from "../../support/validators.ts";
import { address6Of, addressOf, Machine, OWN_ADDRESS, openSwitch } from "./machines.ts";
import { Relays } from "./relays.ts";

/** A network of validators on machines of their own, with sends that may not be lost. */

export const CHAIN = "svc-lab-1";
/** Has funds, and does nothing by itself. */
export const ALICE = testKey("alice");
const P2P = 26_656;
const RPC = 26_657;
const SENDERS = 8;
const TURN_MS = 4_000;
/** Sends in blocks before the fault begins. */
const WARM_SENDS = 5;
const PATIENCE = { timeoutMs: 120_000, pollMs: 100 } as const;

export interface LabRequest {
  /** Homes of `svc testnet`; 4 unless given. */
  readonly count?: number;
  /** Homes whose node is started, from the first on; all unless given. */
  readonly started?: number;
  /** Peers reach one another through relays of this process. */
  readonly isRelayed?: boolean;
  /** Peers have IPv6 addresses. */
  readonly isSix?: boolean;
  readonly blockIntervalMs?: number;
  readonly flags?: readonly string[];
  readonly senders?: number;
  /** Messages of each send; 1 unless given. */
  readonly messages?: number;
  readonly accounts?: readonly GenesisAccount[];
  readonly editGenesis?: (genesis: GenesisFile) => void;
  /** Keys of CometBFT's table `p2p`. */
  readonly p2p?: Readonly<Record<string, string | number | boolean>>;
}

/** Numbers that a row reports. */
export type Figures = Readonly<Record<string, number>>;

/** A node on its machine. */
export class LabNode {
  readonly machine: Machine;
  readonly node: TestNode;
  readonly rpc: string;

  constructor(machine: Machine, node: TestNode) {
    this.machine = machine;
    this.node = node;
    this.rpc = `http://${machine.address}:${RPC}`;
  }

  get home(): string {
    return this.node.home;
  }

  height(): Promise<number> {
    return heightAt(this.rpc);
  }

  answer(path: string): Promise<ReturnType<typeof JSON.parse>> {
    return answerOf(this.rpc, path);
  }

  /** Resolves when the node has a block of at least that height. */
  async reaches(height: number, timeoutMs: number = PATIENCE.timeoutMs): Promise<void> {
    const isThere = async (): Promise<boolean> => (await this.height()) >= height;
    await waitFor(isThere, `block ${height} of node ${this.machine.number}`, { ...PATIENCE, timeoutMs });
  }

  /** Seconds until the node has a block above the one that another has now. */
  async catchUp(other: LabNode): Promise<number> {
    const began = performance.now();
    await this.reaches((await other.height()) + 1);
    return seconds(began);
  }

  /** Signals the node and its engine. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.node.process;
    for (const id of [...childrenOf(pid), pid]) process.kill(id, name);
  }
}

export class Lab {
  readonly fixture: Fixture;
  readonly rng: Rng;
  readonly sends: Sends;
  readonly nodes: LabNode[];
  readonly relays: Relays | undefined;

  private constructor(parts: Pick<Lab, "fixture" | "rng" | "sends" | "nodes" | "relays">) {
    this.fixture = parts.fixture;
    this.rng = parts.rng;
    this.sends = parts.sends;
    this.nodes = parts.nodes;
    this.relays = parts.relays;
  }

  static async open(fixture: Fixture, request: LabRequest): Promise<Lab> {
    const { count = 4, started = count, senders = SENDERS, messages = 1 } = request;
    await openSwitch(fixture);
    const homes = await makeHomes(fixture, request, count);
    const relays = request.isRelayed === true ? new Relays(fixture) : undefined;
    const nodes: LabNode[] = [];
    for (const [i, home] of homes.entries()) {
      const machine = await Machine.open(fixture, i + 1);
      const peers = relays === undefined ? directPeers(request, homes, i) : await relayedPeers(relays, homes, i);
      nodes.push(await makeNode(fixture, { machine, home, flags: [...peers, ...(request.flags ?? [])], request }));
    }
    const running = nodes.slice(0, started);
    await Promise.all(running.map(({ node }) => node.start()));
    const rng = seedFrom("SVC_TEST_SEED");
    const addresses = running.map(({ rpc }) => rpc);
    const sends = new Sends({ addresses, rng, senders, messages, turnMs: TURN_MS });
    return new Lab({ fixture, rng, sends, nodes, relays });
  }

  /** Blocks that a node gets in that time. */
  async blocksIn(ms: number, node: LabNode): Promise<number> {
    const before = await node.height();
    await pause(ms);
    return (await node.height()) - before;
  }

  /** Heights of blocks that were decided after the first round, among those between two heights. */
  async lateRounds(node: LabNode, from: number, to: number): Promise<number[]> {
    const late: number[] = [];
    for (let height = from; height < to; height++) {
      const { block } = await node.answer(`block?height=${height + 1}`);
      if (block.last_commit.round > 0) late.push(height);
    }
    return late;
  }

  /** The node at a place, counted from 0. */
  at(place: number): LabNode {
    const node = this.nodes[place];
    if (node === undefined) throw new Error(`the lab has no node ${place}`);
    return node;
  }

  /** Stops the sends, and compares what all nodes have. */
  async finish(nodes: readonly LabNode[] = this.nodes): Promise<Figures> {
    const acknowledged = await this.sends.stop();
    const rpcs = nodes.map(({ rpc }) => rpc);
    // Sends that were given up may be in a block later.
    const isEmpty = async (): Promise<boolean> =>
      (await Promise.all(nodes.map((node) => node.answer("num_unconfirmed_txs")))).every(({ total }) => total === "0");
    await waitFor(isEmpty, "mempools without sends", PATIENCE);
    const height = await expectSameBlocks(rpcs, Math.max(1, ...acknowledged.map(({ height }) => Number(height))));
    for (const rpc of rpcs) expect(await notThere(rpc, acknowledged), rpc).toEqual([]);
    const [first = ""] = rpcs;
    const txs = (await txsUpTo(first, height)).map(fromBase64);
    expect(new Set(txs.map(txHash)).size, "transactions that are in blocks twice").toBe(txs.length);
    await expectSequences(nodes, this.sends, txs);
    return { height, sends: acknowledged.length };
  }
}

/** Runs a row: the network, the sends, the fault, and the comparison of all nodes. Reports its figures. */
export async function inLab(row: string, request: LabRequest, fault: (lab: Lab) => Promise<Figures>): Promise<void> {
  const fixture = new Fixture();
  try {
    const lab = await Lab.open(fixture, request);
    lab.sends.start();
    await waitFor(() => lab.sends.acknowledged.length >= WARM_SENDS, "the first sends", PATIENCE);
    const figures = await fault(lab);
    report(row, { ...figures, ...(await lab.finish()) });
  } finally {
    await fixture.close();
  }
}

/** Prints figures of a row, and hands them to `npm run lab`. */
export function report(row: string, figures: Figures): void {
  const line = JSON.stringify({ row, figures });
  console.log(line);
  if (process.env.SVC_TEST_FIGURES !== undefined) appendFileSync(process.env.SVC_TEST_FIGURES, `${line}\n`);
}

/** Leaves out the transactions of the last homes, which become no validators. */
export function keepValidators(count: number): (genesis: GenesisFile) => void {
  return ({ app_state }) => {
    const { genutil } = app_state;
    if (genutil === undefined || !Array.isArray(genutil.gen_txs)) throw new Error("a genesis file with transactions");
    genutil.gen_txs = genutil.gen_txs.slice(0, count);
  };
}

/** Since a moment of `performance.now()`, with one decimal. */
export function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}

/** Each sender has signed as many transactions as are in blocks, none more. */
async function expectSequences(nodes: readonly LabNode[], sends: Sends, txs: readonly Uint8Array[]): Promise<void> {
  const signers = txs.map((tx) => decodeTx(tx)).flatMap(({ messages, authInfo }) => txSigners(messages, authInfo.fee));
  for (const { node } of nodes) {
    const client = node.client();
    for (const { address } of sends.keys) {
      const count = signers.filter((signer) => signer === address).length;
      const sequence = count === 0 ? 0n : (await accountInfo(client.query, address)).sequence;
      expect(sequence, `transactions of ${address}`).toBe(BigInt(count));
    }
    client.close();
  }
}

async function makeHomes(fixture: Fixture, request: LabRequest, count: number): Promise<string[]> {
  const folder = join(fixture.folder, "network");
  const words = ["testnet", "--v", String(count), "--chain-id", CHAIN, "--starting-ip-address", addressOf(1)];
  const { code, stderr } = await runSvc([...words, "-o", folder]);
  if (code !== 0) throw new Error(stderr);
  const homes = Array.from({ length: count }, (_, i) => join(folder, `node${i}`, "svc"));
  const funded = senderKeys(request.senders ?? SENDERS).map(({ address }) => address);
  const accounts = funded.map((address) => ({ address, coins: [{ denom: "utoken", amount: 1_000_000n }] }));
  const { editGenesis, accounts: others = [] } = request;
  shareGenesis(homes, {
    account: ALICE,
    accounts: [...accounts, ...others],
    ...(editGenesis === undefined ? {} : { editGenesis }),
  });
  return homes;
}

interface NodePlace {
  readonly machine: Machine;
  readonly home: string;
  readonly flags: readonly string[];
  readonly request: LabRequest;
}

/** A node that is not started. */
export async function makeNode(fixture: Fixture, { machine, home, flags, request }: NodePlace): Promise<LabNode> {
  const { blockIntervalMs = 1_000, p2p = {} } = request;
  addPeerKeys(home, { allow_duplicate_ip: true, ...p2p });
  const engine = ["--engine", "cometbft", "--cometbft", await engineProgram(fixture)];
  const places = ["--home", home, "--rpc.laddr", `tcp://${machine.address}:${RPC}`, "--grpc.enable=false"];
  const chain = ["--block-interval", `${blockIntervalMs}ms`, "--minimum-gas-prices", "0utoken"];
  const args = ["start", ...places, ...engine, ...chain, ...flags];
  const { address: host, prefix } = machine;
  const parts = { home, chainId: CHAIN, host, port: RPC, args, prefix, firstBlockWithinMs: PATIENCE.timeoutMs };
  return new LabNode(machine, new TestNode(fixture, parts));
}

/** Adds keys to the table `[cometbft.p2p]` of a home of `svc testnet`. */
function addPeerKeys(home: string, keys: Readonly<Record<string, string | number | boolean>>): void {
  const path = join(homePaths(home).config, "config.toml");
  const lines = Object.entries(keys).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  const text = readFileSync(path, "utf8");
  if (text.includes("allow_duplicate_ip")) return;
  if (!text.includes("[cometbft.p2p]")) throw new Error(`${path} has no table of CometBFT's peers`);
  writeFileSync(path, text.replace("[cometbft.p2p]\n", `[cometbft.p2p]\n${lines.join("")}`));
}

/** The peers of `svc testnet` have IPv4 addresses. */
function directPeers({ isSix }: LabRequest, homes: readonly string[], own: number): string[] {
  if (isSix !== true) return [];
  const peers = homes.flatMap((home, i) => (i === own ? [] : [`${homeNodeId(home)}@[${address6Of(i + 1)}]:${P2P}`]));
  return ["--p2p.persistent_peers", peers.join(","), "--p2p.laddr", `tcp://[::]:${P2P}`];
}

async function relayedPeers(relays: Relays, homes: readonly string[], own: number): Promise<string[]> {
  const peers: string[] = [];
  for (const [i, home] of homes.entries()) {
    if (i === own) continue;
    const port = await relays.open({ from: own + 1, to: i + 1, host: addressOf(i + 1), port: P2P });
    peers.push(`${homeNodeId(home)}@${OWN_ADDRESS}:${port}`);
  }
  // No peer tells others of a direct way.
  return ["--p2p.persistent_peers", peers.join(","), "--p2p.pex=false"];
}

let program: string | undefined;

async function engineProgram(fixture: Fixture): Promise<string> {
  if (program !== undefined) return program;
  const peer = await buildPeer("cometbft");
  if (!(peer instanceof Peer)) throw new Error(peer.missing);
  fixture.defer(() => peer.remove());
  program = peer.binary;
  return program;
}
