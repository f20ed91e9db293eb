import { batch, computed, effect, signal } from "@preact/signals";
import * as v from "valibot";
import { blockSeconds } from "../../../client/index.ts";
import { errorText } from "../../../util/index.ts";
import { txHash } from "../../../wire/index.ts";
import { t } from "../../text/index.ts";
import { chain, lost } from "../chain.ts";
import { startWorker } from "../worker.ts";
import { type Changes, merged } from "./changes.ts";
import { type Digest, type Item, MAX_TXS } from "./digest.ts";
import { type TxRow, txRow } from "./txs.ts";

/** A block as lists show it. */
export interface BlockRow {
  readonly height: bigint;
  /** RFC 3339. */
  readonly time: string;
  readonly txs: number;
  /** Upper-case hex. */
  readonly proposer: string;
}

/** Blocks that are kept for lists of the newest. */
const KEPT = 20;
/** Blocks that are searched for the newest transactions at the start. */
const SEARCHED = 1000n;
/** A node that has sent no block for so long is asked for its state. */
const SILENT_MS = 15_000;
/** Pause before a worker that did not load, or failed, is started again. */
const WORKER_MS = 2_000;

/** The newest block, and the lists of the newest; they stand still while `paused` is set. */
export const newest = signal<BlockRow | undefined>(undefined);
export const blocks = signal<readonly BlockRow[]>([]);
export const txs = signal<readonly TxRow[]>([]);
export const chainId = signal<string | undefined>(undefined);
export const paused = signal(false);
/** Mean milliseconds between the newest blocks; the first block of a chain has the time of its genesis. */
export const paceMs = computed(() => {
  const known = blocks.value.filter(({ height }) => height > 1n);
  const [first, last] = [known.at(-1), known[0]];
  if (first === undefined || last === undefined || first === last) return undefined;
  return (Date.parse(last.time) - Date.parse(first.time)) / (known.length - 1);
});
const DAY_SECONDS = 86_400;
/** Blocks that a day has at the pace of the last hundred. Measured again after a hundred, so that what is counted by it stands still. */
export const blocksPerDay = signal<number | undefined>(undefined);
/** Another number when the pace is to be measured again: sooner on a young chain, which has fewer blocks. */
const measures = computed(() => {
  const at = newest.value?.height;
  if (at === undefined) return undefined;
  return at < 100n ? at / 10n : 10n + at / 100n;
});
/** News of the chain since those before: whether it may be a transaction, and the kinds of events. Each block brings some. */
export interface News {
  readonly hasTxs: boolean;
  readonly changes: Changes;
}
const ALL: News = { hasTxs: true, changes: "all" };
export const news = signal<News>(ALL);
/** A fact that makes the node doubtful: another chain, or a height that has gone back and not come again. */
export const doubt = signal<{ readonly was: string; readonly is: string } | undefined>(undefined);

/** Milliseconds by which the clock of this device differs from new blocks, where providers may no longer accept its tokens. */
export const skewMs = signal<number | undefined>(undefined);
/** As much as providers bear, and the way of a block to this page. */
const MAX_SKEW_MS = 30_000;

const height = v.pipe(
  v.string(),
  v.regex(/^\d{1,19}$/),
  v.transform((text) => BigInt(text)),
);
const header = v.object({ chain_id: v.string(), height, time: v.string(), proposer_address: v.string() });
const metas = v.object({
  last_height: height,
  block_metas: v.array(
    v.object({
      header,
      num_txs: v.pipe(
        v.string(),
        v.transform((text) => Number(text)),
      ),
    }),
  ),
});

type Header = v.InferOutput<typeof header>;

let highest = 0n;
/** Height of the last block that was sent. */
let taken = 0n;
/** The latest state, shown or held back while paused. */
let held: { blocks: readonly BlockRow[]; txs: readonly TxRow[] } = { blocks: [], txs: [] };
/** News that are not told yet. */
let untold: News | undefined;

function show(): void {
  if (paused.value) return;
  batch(() => {
    newest.value = held.blocks[0];
    blocks.value = held.blocks;
    txs.value = held.txs;
    if (untold !== undefined) news.value = untold;
    untold = undefined;
  });
}

function add({ hasTxs, changes }: News): void {
  untold =
    untold === undefined
      ? { hasTxs, changes }
      : { hasTxs: untold.hasTxs || hasTxs, changes: merged(untold.changes, changes) };
}

const rowOf = ({ height, time, proposer_address: proposer }: Header, count: number): BlockRow => {
  return { height, time, txs: count, proposer };
};

/** A page of headers that ends at a height, or at the newest; newest first, at most twenty. */
export async function blocksBefore(last?: bigint): Promise<readonly BlockRow[]> {
  const params = last === undefined ? {} : { minHeight: "1", maxHeight: last.toString() };
  const { block_metas: found } = v.parse(metas, await chain.rpc.call("blockchain", params));
  return found.map((meta) => rowOf(meta.header, meta.num_txs)).sort((a, b) => (a.height < b.height ? 1 : -1));
}

async function measure(): Promise<void> {
  blocksPerDay.value = Math.round(DAY_SECONDS / (await blockSeconds(chain)));
}

/** After the connection is made, again or for the first time. */
async function catchUp(): Promise<void> {
  const status = await chain.node.status();
  check(status.chainId, status.latestHeight);
  const rows = await blocksBefore();
  const from = status.latestHeight > SEARCHED ? status.latestHeight - SEARCHED : 0n;
  const found = await chain.node.txSearch(`tx.height>${from}`, { perPage: MAX_TXS, order: "desc" });
  held = { blocks: rows, txs: found.txs.map(txRow) };
  add(ALL);
  show();
}

/** Nothing may be concluded from a node that serves another chain, or less of this one, than before. */
function check(id: string, latest: bigint): void {
  chainId.value ??= id;
  if (id !== chainId.value) doubt.value = { was: chainId.value, is: id };
  else if (latest < highest) doubt.value = { was: String(highest), is: String(latest) };
  else doubt.value = undefined;
  if (latest > highest) highest = latest;
}

/** Takes a block; one that leaves a gap makes the page catch up, since what happened between is not known. */
async function take(block: Digest): Promise<void> {
  const { chainId: id, height, time, proposer, count, changes } = block;
  const [before, top] = [taken, held.blocks[0]?.height ?? 0n];
  taken = height;
  // It waited while the page caught up, and came beyond it.
  if (id === chainId.peek() && height > before && height <= top) return;
  if (top > 0n && height > top + 1n) return catchUp();
  check(id, height);
  const skew = Date.now() - Date.parse(time);
  skewMs.value = Math.abs(skew) > MAX_SKEW_MS ? skew : undefined;
  const found = block.txs.map(({ bytes, ...row }): TxRow => ({ ...row, hash: txHash(bytes), height }));
  const row = { height, time, txs: count, proposer };
  held = {
    blocks: [row, ...held.blocks.filter((each) => each.height < height)].slice(0, KEPT),
    txs: [...found.reverse(), ...held.txs.filter((each) => each.height < height)].slice(0, MAX_TXS),
  };
  add({ hasTxs: count > 0, changes });
  show();
}

/** Follows new blocks over one subscription of a worker, whose script is named, for as long as the page is open. */
export function follow(script: string): void {
  effect(() => {
    if (!paused.value) show();
  });
  // A pace that cannot be asked for is that of the measure before; the first is asked for with each block until it is known.
  effect(() => {
    const height = blocksPerDay.value === undefined ? newest.value?.height : measures.value;
    if (height !== undefined) measure().catch(() => undefined);
  });
  let before = Promise.resolve();
  const next = (step: () => Promise<void>): void => {
    before = before.then(() => telling(step));
  };
  let silence: ReturnType<typeof setInterval> | undefined;
  const start = (): void => {
    const worker = startWorker(script);
    worker.onmessage = ({ data }: MessageEvent<Item>) => {
      clearInterval(silence);
      silence = setInterval(() => next(catchUp), SILENT_MS);
      next(() => heard(data));
    };
    worker.onerror = () => {
      // A second error may be on its way.
      worker.onerror = null;
      worker.terminate();
      clearInterval(silence);
      lost.value = new Error(t.notice.noWorker);
      setTimeout(start, WORKER_MS);
    };
    worker.postMessage(chain.rpc.endpoint.websocket.href);
  };
  start();
}

async function heard(item: Item): Promise<void> {
  if (item.kind === "lost") throw new Error(item.reason);
  await (item.kind === "resumed" ? catchUp() : take(item.block));
}

/** Runs a step; `lost` tells its fault until the next one succeeds. */
async function telling(step: () => Promise<void>): Promise<void> {
  try {
    await step();
    lost.value = undefined;
  } catch (error) {
    lost.value = error instanceof Error ? error : new Error(errorText(error));
  }
}
