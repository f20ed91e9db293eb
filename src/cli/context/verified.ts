import { existsSync } from "node:fs";
import {
  type ChainClient,
  type NodeApi,
  provenNode,
  provenQueries,
  type QueryClient,
  type QueryNode,
  RpcClient,
  rpcSource,
} from "../../client/index.ts";
import { hashOf, type LightBlock, LightClient, memoryStore, type TrustedStore } from "../../light/index.ts";
import { fromHex } from "../../util/index.ts";
import { ownBlockPath } from "../command/home.ts";
import type { TrustSettings } from "../command/profile.ts";
import { commandError } from "../errors.ts";
import type { Io } from "../terminal/io.ts";
import { readBlock, verifiedBlockPath, writeBlock } from "./trusted-block.ts";

const SECOND = 1_000_000_000n;
const SECONDS_OF: Readonly<Record<string, bigint>> = { s: 1n, m: 60n, h: 3600n, d: 86_400n };

interface TrustOptions {
  readonly trust: TrustSettings;
  readonly home: string;
  /** Name of the chain, if it is known. */
  readonly chainId: string | undefined;
}

/** Makes a light client over a node. */
type MakeLight = (node: NodeApi) => LightClient;

/**
 * Light clients from the block that `client.toml` names, otherwise from the block that the home's own node wrote. Undefined
 * without such a block, or if the node's is of another chain than `chainId`.
 */
export function lightClients({ trust, home, chainId }: TrustOptions): MakeLight | undefined {
  const own = trust.hash === "" ? ownBlock(home) : undefined;
  if (trust.hash === "" && (own === undefined || (chainId ?? own.header.chainId) !== own.header.chainId)) {
    return undefined;
  }
  const hash = own === undefined ? fromHex(trust.hash) : hashOf(own.header);
  const witnesses = trust.witnesses.split(",").filter((each) => each.trim() !== "");
  return (node) =>
    new LightClient({
      root: { height: own?.header.height ?? BigInt(trust.height), hash },
      primary: rpcSource(node.rpc),
      witnesses: witnesses.map((each) => rpcSource(new RpcClient(each))),
      store: newestInFile(verifiedBlockPath(home, hash), own),
      ...(chainId === undefined ? {} : { chainId }),
      ...(trust.period === "" ? {} : { period: nanosOf(trust.period) }),
    });
}

/** A file that is there and cannot be read must not end all verification unnoticed. */
function ownBlock(home: string): LightBlock | undefined {
  const path = ownBlockPath(home);
  const block = readBlock(path);
  if (block !== undefined || !existsSync(path)) return block;
  throw commandError(`${path} cannot be read, so that nothing can be verified`, {
    hint: "restart the node, which writes it anew, or name a block: svc config trust <height> <hash>; --verify off asks without proof",
  });
}

/** A node that has to prove its answers; each height and each query without proof is told once. */
export function tellingNode(
  node: NodeApi,
  light: LightClient,
  { io, required }: { readonly io: Io /** Refuses answers that cannot be proven. */; readonly required: boolean },
): QueryNode {
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

/** Milliseconds for which a long command uses a verified header again: some blocks. */
const FRESH_MS = 10_000;

/** Queries for single records that the node has to prove, and the height of the newest proof. */
export interface ProvenRecords {
  readonly query: QueryClient;
  /** Undefined before the first. */
  height(): bigint | undefined;
}

export function provenRecords(chain: ChainClient, light: LightClient, required: boolean): ProvenRecords {
  let newest: bigint | undefined;
  const onVerified = (height: bigint): void => {
    newest = height;
  };
  const query = provenQueries(chain, light, { required, freshMs: FRESH_MS, onVerified });
  return { query, height: () => newest };
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
