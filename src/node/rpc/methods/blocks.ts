import {
  type BlockRecord,
  type ChainSource,
  type ChainStatus,
  type Header,
  hasEvidence,
} from "../../../engine/index.ts";
import { toBase64 } from "../../../util/index.ts";
import { pageOf, perPageOf, recordAt } from "../calls/heights.ts";
import { defineMethod, parseQueryText, refuse } from "../calls/method.ts";
import { bytes, hexBytes, int64, required, text } from "../calls/params.ts";
import {
  blockIdJson,
  blockJson,
  commitJson,
  eventsJson,
  headerJson,
  paramUpdatesJson,
  txResultJson,
  validatorUpdateJson,
} from "../json/json.ts";
import { orderOf } from "./order.ts";

const MAX_BLOCK_METAS = 20n;

export const blockMethods = {
  block: defineMethod({ height: int64 }, async ({ chain }, { height }) =>
    wholeBlock(chain, await recordAt(chain, height)),
  ),

  block_by_hash: defineMethod({ hash: required(bytes) }, async ({ chain }, { hash }) => {
    const height = await chain.blocks.heightOf(hash);
    if (height === undefined) return { block_id: emptyBlockId(), block: null };
    return wholeBlock(chain, await recordAt(chain, height));
  }),

  header: defineMethod({ height: int64 }, async ({ chain }, { height }) => ({
    header: headerJson((await recordAt(chain, height)).header),
  })),

  header_by_hash: defineMethod({ hash: required(hexBytes) }, async ({ chain }, { hash }) => {
    const height = await chain.blocks.heightOf(hash);
    return { header: height === undefined ? null : headerJson((await recordAt(chain, height)).header) };
  }),

  commit: defineMethod({ height: int64 }, async ({ chain }, { height }) => {
    const { header, commit } = await recordAt(chain, height);
    const { height: last, engine } = await chain.status();
    // The next block decides which votes of several validators count.
    const canonical = engine === "embedded" || header.height < last;
    return { signed_header: { header: headerJson(header), commit: commitJson(commit) }, canonical };
  }),

  block_results: defineMethod({ height: int64 }, async ({ chain }, { height }) => {
    const record = await recordAt(chain, height);
    const { header, events, validatorUpdates, consensusParamUpdates, appHash, txCount } = record;
    const txs = await chain.blocks.txs(header.height);
    return {
      height: header.height.toString(),
      txs_results: txCount === 0 ? null : txs.map(({ result }) => txResultJson(result)),
      finalize_block_events: eventsJson(events),
      validator_updates: validatorUpdates.length === 0 ? null : validatorUpdates.map(validatorUpdateJson),
      consensus_param_updates: paramUpdatesJson(consensusParamUpdates),
      app_hash: toBase64(appHash),
    };
  }),

  blockchain: defineMethod({ minHeight: int64, maxHeight: int64 }, async ({ chain }, { minHeight, maxHeight }) => {
    const status = await chain.status();
    const { from, to } = blockRange(status, minHeight ?? 0n, maxHeight ?? 0n);
    const metas: unknown[] = [];
    for (let height = to; height >= from && height > 0n; height--) metas.push(blockMeta(await recordAt(chain, height)));
    return { last_height: status.height.toString(), block_metas: metas };
  }),

  block_search: defineMethod(
    { query: required(text), page: int64, per_page: int64, order_by: text },
    async ({ chain }, { query, page, per_page, order_by }) => {
      const parsed = parseQueryText(query);
      const wanted = {
        page: pageOf(page),
        perPage: perPageOf(per_page),
        descending: orderOf(order_by, "desc") === "desc",
      };
      const { total, found } = await chain.blocks.search({ query: parsed, ...wanted });
      const blocks = await Promise.all(found.map(async (height) => wholeBlock(chain, await recordAt(chain, height))));
      return { blocks, total_count: total.toString() };
    },
  ),
};

async function wholeBlock(chain: ChainSource, { header, commit }: BlockRecord) {
  const block = await chain.blocks.block(header.height);
  const blockId = blockIdJson(commit.blockId);
  if (block === undefined) return { block_id: blockId, block: null };
  return { block_id: blockId, block: { ...blockJson(block), evidence: await evidenceOf(chain, header) } };
}

/** The evidence of a block, which an engine beside the node keeps. */
async function evidenceOf({ ask }: ChainSource, header: Header): Promise<unknown> {
  if (ask === undefined || !hasEvidence(header)) return { evidence: [] };
  const { block } = await ask("block", { height: header.height.toString() });
  return typeof block === "object" && block !== null && "evidence" in block ? block.evidence : { evidence: [] };
}

function emptyBlockId() {
  return { hash: "", parts: { total: 0, hash: "" } };
}

function blockMeta({ header, commit, size, txCount }: BlockRecord) {
  return {
    block_id: blockIdJson(commit.blockId),
    block_size: size.toString(),
    header: headerJson(header),
    num_txs: txCount.toString(),
  };
}

/** The last 20 heights of a range; 0 leaves an end open. */
function blockRange({ height: latest, base }: ChainStatus, min: bigint, max: bigint): { from: bigint; to: bigint } {
  if (min < 0n || max < 0n) throw refuse(`heights must be non-negative, got ${min} and ${max}`);
  const to = max === 0n || max > latest ? latest : max;
  const low = min < base ? base : min;
  if (low > to) throw refuse(`min height ${low} can't be greater than max height ${to}`);
  return { from: to - low >= MAX_BLOCK_METAS ? to - MAX_BLOCK_METAS + 1n : low, to };
}
