import type { RpcSocket } from "../../../client/index.ts";
import { errorText, fromBase64, isRecord } from "../../../util/index.ts";
import { changesOf } from "./changes.ts";
import { actionOf, type TxRow } from "./txs.ts";

/** The newest transactions that a page shows: no more of a block are read. */
export const MAX_TXS = 12;

/** The facts of a block that pages need: a block of a hundred transactions is a quarter of a million characters. */
export interface Digest {
  readonly chainId: string;
  readonly height: bigint;
  /** RFC 3339. */
  readonly time: string;
  /** Upper-case hex. */
  readonly proposer: string;
  /** How many transactions the block has. */
  readonly count: number;
  /** The last transactions, in their order. */
  readonly txs: readonly DigestTx[];
  readonly changes: ReadonlySet<string>;
}

/** A transaction with what its bytes say: reading them took a fifth of the page's time for a block. */
export interface DigestTx extends Pick<TxRow, "action" | "code"> {
  readonly bytes: Uint8Array;
}

/** An item of the worker that follows the blocks. */
export type Item =
  | { readonly kind: "resumed" }
  | { readonly kind: "block"; readonly block: Digest }
  | { readonly kind: "lost"; readonly reason: string };

/** Pause after a refused subscription: a node may have too many subscribers for now. */
const REFUSED_MS = 5_000;

/** Tells of each new block until the connection is closed, and why none comes. */
export async function follow(
  socket: Pick<RpcSocket, "subscribe">,
  tell: (item: Item) => void,
  pauseMs = REFUSED_MS,
): Promise<void> {
  for (;;) {
    try {
      return await listen(socket, tell);
    } catch (error) {
      tell({ kind: "lost", reason: errorText(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Rejects when the node refuses the subscription. */
async function listen(socket: Pick<RpcSocket, "subscribe">, tell: (item: Item) => void): Promise<void> {
  for await (const item of socket.subscribe("tm.event='NewBlock'")) {
    tell(item.kind === "resumed" ? item : itemOf(item.value));
  }
}

function itemOf(event: unknown): Item {
  try {
    return { kind: "block", block: digestOf(event) };
  } catch (error) {
    return { kind: "lost", reason: errorText(error) };
  }
}

/** Reads the event of a block. Throws where it is none. */
export function digestOf(event: unknown): Digest {
  const block = part(event, "block");
  const header = part(block, "header");
  const height = textOf(header, "height");
  if (!/^\d{1,19}$/.test(height)) throw new Error("the node told of a block without a height");
  const results = isRecord(event) ? event.result_finalize_block : undefined;
  const texts = listOf(part(block, "data"), "txs").filter((each) => typeof each === "string");
  const found = isRecord(results) ? listOf(results, "tx_results") : [];
  const first = Math.max(0, texts.length - MAX_TXS);
  return {
    chainId: textOf(header, "chain_id"),
    height: BigInt(height),
    time: textOf(header, "time"),
    proposer: textOf(header, "proposer_address"),
    count: texts.length,
    txs: texts.slice(first).map((text, i) => txOf(text, found[first + i])),
    changes: changesOf(results),
  };
}

function txOf(text: string, result: unknown): DigestTx {
  const bytes = fromBase64(text);
  return { bytes, action: actionOf(bytes), code: codeOf(result) };
}

/** The code of a result; a success may have none. */
function codeOf(result: unknown): number | undefined {
  const code = isRecord(result) ? (result.code ?? 0) : undefined;
  return typeof code === "number" ? code : undefined;
}

function part(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const found = isRecord(value) ? value[name] : undefined;
  if (!isRecord(found)) throw new Error(`the node told of a block without its ${name}`);
  return found;
}

function textOf(value: Readonly<Record<string, unknown>>, name: string): string {
  const text = value[name];
  if (typeof text !== "string") throw new Error(`the node told of a block without its ${name}`);
  return text;
}

function listOf(value: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = value[name];
  return Array.isArray(list) ? list : [];
}
