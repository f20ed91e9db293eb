import { appendFileSync, copyFileSync } from "node:fs";
import { homeNodeId, homePaths, initHome } from "../../src/node/index.ts";
import type { Fixture } from "./fixture.ts";
import type { TestNode } from "./node.ts";
import { freePorts } from "./ports.ts";

export interface JoinRequest {
  readonly chainId: string;
  /** Path of CometBFT's program. */
  readonly program: string;
  /** Nodes of the chain, and a port that leads to each; by default the port on which it listens for peers. */
  readonly peers: readonly { readonly node: TestNode; readonly port?: number }[];
  /** Lines of the table `[cometbft.statesync]`. */
  readonly stateSync?: readonly string[];
}

/** A new home with the genesis file of a chain under CometBFT, whose nodes are its peers. */
export async function joiningNode(
  fixture: Fixture,
  { chainId, program, peers, stateSync = [] }: JoinRequest,
): Promise<{ home: string; args: string[]; port: number }> {
  const home = fixture.tempHome();
  initHome({ home, moniker: "joiner", chainId });
  const [first] = peers;
  if (first === undefined) throw new Error("a node of the chain is needed");
  copyFileSync(homePaths(first.node.home).genesis, homePaths(home).genesis);
  const local = [
    "[cometbft]",
    'log_level = "info"',
    "[cometbft.p2p]",
    "addr_book_strict = false",
    "allow_duplicate_ip = true",
  ];
  const search = ["[cometbft.statesync]", 'discovery_time = "5s"', ...stateSync];
  appendFileSync(`${homePaths(home).config}/config.toml`, `${[...local, ...search].join("\n")}\n`);
  const [p2p = 0, port = 0] = await freePorts(2);
  const addresses = await Promise.all(
    peers.map(async ({ node, port: to }) => `${homeNodeId(node.home)}@127.0.0.1:${to ?? (await peerPort(node))}`),
  );
  const places = ["--rpc.laddr", `tcp://127.0.0.1:${port}`, "--p2p.laddr", `tcp://127.0.0.1:${p2p}`];
  const engine = ["--engine", "cometbft", "--cometbft", program, "--p2p.persistent_peers", addresses.join(",")];
  return { home, port, args: ["start", "--home", home, ...places, ...engine, "--grpc.enable=false"] };
}

/** The port on which a node listens for peers. */
export async function peerPort(node: TestNode): Promise<number> {
  const { listen_addr: address } = (await answerOf(node, "status")).node_info;
  return Number(address.split(":").at(-1));
}

/** Flags of a node that joins by a snapshot, and trusts the first block that a node has, or the hash that is given. */
export async function trustFlags(servers: readonly TestNode[], hash?: string): Promise<string[]> {
  const [first] = servers;
  if (first === undefined) throw new Error("a server is needed");
  const addresses = servers.map(({ address }) => address);
  const trusted = hash ?? (await answerOf(first, "commit?height=1")).signed_header.commit.block_id.hash;
  const flags = ["--state-sync.rpc-servers", [...addresses, ...addresses].slice(0, 2).join(",")];
  return [...flags, "--state-sync.trust-height", "1", "--state-sync.trust-hash", trusted];
}

/** The result of a call over JSON-RPC. */
export async function answerOf(node: TestNode, path: string): Promise<ReturnType<typeof JSON.parse>> {
  const response = await fetch(`${node.address.replace("tcp:", "http:")}/${path}`);
  return JSON.parse(await response.text()).result;
}

export async function heightOf(node: TestNode): Promise<number> {
  return Number((await answerOf(node, "status")).sync_info.latest_block_height);
}
