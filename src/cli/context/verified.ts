import { type NodeApi, provenNode, type QueryNode, RpcClient, rpcSource } from "../../client/index.ts";
import { hashOf, type LightBlock, LightClient, memoryStore, type TrustedStore } from "../../light/index.ts";
import { fromHex } from "../../util/index.ts";
import { ownBlockPath } from "../command/home.ts";
import type { TrustSettings } from "../command/profile.ts";
import type { Io } from "../terminal/io.ts";
import { readBlock, verifiedBlockPath, writeBlock } from "./trusted-block.ts";

const SECOND = 1_000_000_000n;
const SECONDS_OF: Readonly<Record<string, bigint>> = { s: 1n, m: 60n, h: 3600n, d: 86_400n };

interface VerifiedOptions {
  readonly trust: TrustSettings;
  readonly home: string;
  /** Name of the chain, if it is known. */
  readonly chainId: string | undefined;
  readonly io: Io;
  /** Refuses answers that cannot be proven. */
  readonly required: boolean;
}

/**
 * Makes a node prove its answers from the block that `client.toml` names, otherwise from the block that the home's own node
 * wrote. Undefined without such a block, or if the node's is of another chain than `chainId`.
 */
export function verifiedNode(options: VerifiedOptions): ((node: NodeApi) => QueryNode) | undefined {
  const { trust, home } = options;
  if (trust.hash !== "") return (node) => provenBy(node, options, { hash: fromHex(trust.hash), root: undefined });
  const root = readBlock(ownBlockPath(home));
  if (root === undefined || (options.chainId ?? root.header.chainId) !== root.header.chainId) return undefined;
  return (node) => provenBy(node, options, { hash: hashOf(root.header), root });
}

interface Trusted {
  readonly hash: Uint8Array;
  /** The whole block, where it need not be fetched. */
  readonly root: LightBlock | undefined;
}

function provenBy(
  node: NodeApi,
  { trust, home, chainId, io, required }: VerifiedOptions,
  { hash, root }: Trusted,
): QueryNode {
  const nodes = trust.witnesses.split(",").filter((each) => each.trim() !== "");
  const light = new LightClient({
    root: { height: root?.header.height ?? BigInt(trust.height), hash },
    primary: rpcSource(node.rpc),
    witnesses: nodes.map((each) => rpcSource(new RpcClient(each))),
    store: newestInFile(verifiedBlockPath(home, hash), root),
    ...(chainId === undefined ? {} : { chainId }),
    ...(trust.period === "" ? {} : { period: nanosOf(trust.period) }),
  });
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (!told.has(text)) io.err(`${text}\n`);
    told.add(text);
  };
  return provenNode(
    { node, light },
    {
      required,
      onVerified: (at) => tell(`verified at height ${at}`),
      onUnproven: (path) => tell(`not verified: ${path} cannot be proven`),
    },
  );
}

function nanosOf(period: string): bigint {
  return BigInt(period.slice(0, -1)) * (SECONDS_OF[period.slice(-1)] ?? 1n) * SECOND;
}

/** Keeps the newest verified block in a file, where the next command goes on. */
function newestInFile(path: string, root: LightBlock | undefined): TrustedStore {
  const store = memoryStore([root, readBlock(path)].flatMap((block) => block ?? []));
  return {
    blocks: () => store.blocks(),
    add(block) {
      store.add(block);
      if (store.blocks().at(-1) !== block) return;
      try {
        writeBlock(path, block);
      } catch {
        // A home that cannot be written costs the next command some requests.
      }
    },
  };
}
