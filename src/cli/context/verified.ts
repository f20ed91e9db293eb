import { existsSync } from "node:fs";
import { join } from "node:path";
import { type NodeApi, provenNode, type QueryNode, RpcClient, rpcSource } from "../../client/index.ts";
import {
  LightClient,
  memoryStore,
  readSignedHeader,
  readValidators,
  signedHeaderJson,
  type TrustedStore,
  validatorsJson,
} from "../../light/index.ts";
import { fromHex, isRecord, makePrivateDirectory, replaceFile } from "../../util/index.ts";
import type { TrustSettings } from "../command/profile.ts";
import { readTextFile } from "../terminal/files.ts";
import type { Io } from "../terminal/io.ts";

const SECOND = 1_000_000_000n;
const SECONDS_OF: Readonly<Record<string, bigint>> = { s: 1n, m: 60n, h: 3600n, d: 86_400n };
const MAX_BYTES = 16 << 20;

interface VerifiedOptions {
  readonly trust: TrustSettings;
  readonly home: string;
  readonly io: Io;
  /** Refuses answers that cannot be proven. */
  readonly required: boolean;
}

/** A node that has to prove its answers, from the block that the home trusts. */
export function verifiedNode(node: NodeApi, { trust, home, io, required }: VerifiedOptions): QueryNode {
  const { height, hash, witnesses } = trust;
  const nodes = witnesses.split(",").filter((each) => each.trim() !== "");
  const light = new LightClient({
    root: { height: BigInt(height), hash: fromHex(hash) },
    primary: rpcSource(node.rpc),
    witnesses: nodes.map((each) => rpcSource(new RpcClient(each))),
    store: newestInFile(join(home, "light"), hash),
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
function newestInFile(folder: string, root: string): TrustedStore {
  const path = join(folder, `${root.slice(0, 16).toLowerCase()}.json`);
  const store = memoryStore(readBlocks(path));
  return {
    blocks: () => store.blocks(),
    add(block) {
      store.add(block);
      if (store.blocks().at(-1) !== block) return;
      const json = { signed_header: signedHeaderJson(block), validators: validatorsJson(block.validators) };
      try {
        makePrivateDirectory(folder);
        replaceFile(path, `${JSON.stringify(json)}\n`);
      } catch {
        // A home that cannot be written costs the next command some requests.
      }
    },
  };
}

function readBlocks(path: string) {
  try {
    if (!existsSync(path)) return [];
    const json: unknown = JSON.parse(readTextFile(path, { what: "verified block", maxBytes: MAX_BYTES }));
    if (!isRecord(json)) return [];
    return [{ ...readSignedHeader(json.signed_header), validators: readValidators(json.validators) }];
  } catch {
    return [];
  }
}
