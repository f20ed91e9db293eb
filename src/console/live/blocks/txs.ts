import type { ChainClient, CommittedTx } from "../../../client/index.ts";
import { fromUtf8 } from "../../../util/index.ts";

/** A transaction as lists show it. */
export interface TxRow {
  readonly hash: string;
  readonly height: bigint;
  /** The first message's type, and the number of further ones. */
  readonly action: string;
  /** Undefined where the result is not known. */
  readonly code: number | undefined;
}

export function txRow({ hash, height, bytes, code }: Pick<CommittedTx, "hash" | "height" | "bytes" | "code">): TxRow {
  return { hash, height, action: actionOf(bytes), code };
}

/** `MsgSend`, or `MsgSend + 2`; needs no descriptor, which would be most of the worker that follows the blocks. */
export function actionOf(bytes: Uint8Array): string {
  try {
    const messages = firstFields(firstFields(bytes).at(-1) ?? NOTHING);
    const [first] = messages;
    if (first === undefined) return "";
    const type = fromUtf8(firstFields(first).at(-1) ?? NOTHING);
    return shortType(type) + (messages.length > 1 ? ` + ${messages.length - 1}` : "");
  } catch {
    return "";
  }
}

const NOTHING = new Uint8Array();

/** The tag of a field with number 1 that has a length: the body of a transaction, a message of a body, the type of a message. */
const FIRST = 10;

/** Contents of the first fields of a message. Throws at anything but numbers and fields with a length, which are all that it has. */
function firstFields(bytes: Uint8Array): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error("the message is cut off");
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const [tag, value] = [number(), number()];
    const end = tag % 8 === 2 ? at + value : at;
    if (tag % 8 > 2 || tag % 8 === 1 || end > bytes.length) throw new Error("the message has another form");
    if (tag === FIRST) found.push(bytes.subarray(at, end));
    at = end;
  }
  return found;
}

/** `MsgSend` of `/sdk.bank.v1beta1.MsgSend`. */
export function shortType(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
}

/** Events by which a transaction is an account's: it paid the fee, sent it, or was paid. */
const KEYS = ["tx.fee_payer", "message.sender", "transfer.recipient"] as const;
/** Transactions that are asked for by each key. */
const ROWS = 50;

/** Transactions up to a height, newest first, and the height up to which the next page goes. */
export interface HistoryPage {
  readonly rows: readonly TxRow[];
  readonly next: bigint | undefined;
}

/**
 * Merges the lists of all keys. A list that is full ends somewhere in a block: from this block down others may lack transactions, so
 * the page ends above it.
 */
export async function loadHistory(
  { node }: { readonly node: Pick<ChainClient["node"], "txSearch"> },
  address: string,
  last: bigint | undefined,
): Promise<HistoryPage> {
  const upTo = last === undefined ? "" : ` AND tx.height<=${last}`;
  const lists = await Promise.all(
    KEYS.map((key) => node.txSearch(`${key}='${address}'${upTo}`, { perPage: ROWS, order: "desc" })),
  );
  const ends = lists.flatMap(({ txs, total }) => (total > txs.length ? (txs.at(-1)?.height ?? []) : []));
  const end = ends.reduce<bigint>((a, b) => (a > b ? a : b), 0n);
  const all = [...new Map(lists.flatMap(({ txs }) => txs).map((tx) => [tx.hash, tx])).values()].sort(newestFirst);
  const whole = all.filter(({ height }) => height > end);
  // A block with more transactions of the account than a list holds is shown in part.
  if (whole.length === 0 && end > 0n)
    return { rows: all.filter(({ height }) => height === end).map(txRow), next: end - 1n };
  return { rows: whole.map(txRow), next: end === 0n ? undefined : end };
}

const newestFirst = (a: CommittedTx, b: CommittedTx): number => Number(b.height - a.height) || b.index - a.index;
