import type { CheckTxResult, ProofOp } from "../../../abci/index.ts";
import { type ChainSource, type FoundTx, merkleProof, merkleRoot, txHash } from "../../../engine/index.ts";
import { toBase64, toHexUpper } from "../../../util/index.ts";
import { pageOf, perPageOf } from "../calls/heights.ts";
import { defineMethod, parseQueryText, refuse } from "../calls/method.ts";
import { bool, bytes, hexBytes, int64, required, text } from "../calls/params.ts";
import { foundTxJson, NO_TX_RESULT, proofJson, txResultJson } from "../json/json.ts";
import { orderOf } from "./order.ts";

const COMMIT_TIMEOUT_MS = 10_000;

export const txMethods = {
  broadcast_tx_sync: defineMethod({ tx: required(bytes) }, async ({ chain }, { tx }) => {
    const { hash, result } = await chain.mempool.add(tx);
    return broadcastJson(hash, result);
  }),

  broadcast_tx_async: defineMethod({ tx: required(bytes) }, ({ chain }, { tx }) => {
    setImmediate(async () => {
      try {
        await chain.mempool.add(tx);
      } catch {
        // The caller asked for no result.
      }
    });
    return broadcastJson(txHash(tx), { code: 0, data: new Uint8Array(), log: "", codespace: "" });
  }),

  broadcast_tx_commit: defineMethod({ tx: required(bytes) }, async (env, { tx }) => {
    const waiting = env.waiters.wait(txHash(tx), COMMIT_TIMEOUT_MS);
    try {
      const { hash, result } = await env.chain.mempool.add(tx);
      const answer = { check_tx: txResultJson(result), tx_result: NO_TX_RESULT, hash: toHexUpper(hash), height: "0" };
      if (result.code !== 0) return answer;
      const committed = await waiting.committed;
      return { ...answer, tx_result: txResultJson(committed.result), height: committed.height.toString() };
    } finally {
      waiting.cancel();
    }
  }),

  check_tx: defineMethod({ tx: required(bytes) }, async ({ chain }, { tx }) =>
    txResultJson(await chain.app.checkTx({ tx, kind: "trial" })),
  ),

  tx: defineMethod({ hash: required(bytes), prove: bool }, async ({ chain }, { hash, prove = false }) => {
    const found = hash.length === 32 ? await chain.txs.find(hash) : undefined;
    if (found === undefined) throw refuse(`tx (${toHexUpper(hash)}) not found`);
    return withProof(proofsOf(chain), found, prove);
  }),

  tx_search: defineMethod(
    { query: required(text), prove: bool, page: int64, per_page: int64, order_by: text },
    async ({ chain }, { query, prove = false, page, per_page, order_by }) => {
      const parsed = parseQueryText(query);
      const wanted = {
        page: pageOf(page),
        perPage: perPageOf(per_page),
        descending: orderOf(order_by, "asc") === "desc",
      };
      const { total, found } = await chain.txs.search({ query: parsed, ...wanted });
      const proofs = proofsOf(chain);
      const txs = await Promise.all(found.map((tx) => withProof(proofs, tx, prove)));
      return { txs, total_count: total.toString() };
    },
  ),

  abci_query: defineMethod(
    { path: text, data: hexBytes, height: int64, prove: bool },
    async (env, { path = "", data = new Uint8Array(), height = 0n, prove = false }) => {
      const answer = await env.query({ path, data, height, prove });
      const bytesOf = (value: Uint8Array) => (answer.code !== 0 && value.length === 0 ? null : toBase64(value));
      return {
        response: {
          code: answer.code,
          log: answer.log,
          info: answer.info,
          index: "0",
          key: answer.key.length === 0 ? null : toBase64(answer.key),
          value: bytesOf(answer.value),
          proofOps: proofOpsJson(answer.proofOps),
          height: answer.height.toString(),
          codespace: answer.codespace,
        },
      };
    },
  ),
};

function proofOpsJson(ops: readonly ProofOp[]) {
  if (ops.length === 0) return null;
  return { ops: ops.map(({ type, key, data }) => ({ type, key: toBase64(key), data: toBase64(data) })) };
}

function broadcastJson(hash: Uint8Array, result: Pick<CheckTxResult, "code" | "data" | "log" | "codespace">) {
  return {
    code: result.code,
    data: toHexUpper(result.data),
    log: result.log,
    codespace: result.codespace,
    hash: toHexUpper(hash),
  };
}

/** The hashes of a block's transactions. The last block's are kept, because rows of a page often share a block. */
function proofsOf(chain: ChainSource): (height: bigint) => Promise<readonly Uint8Array[]> {
  let last: { readonly height: bigint; readonly hashes: Promise<readonly Uint8Array[]> } | undefined;
  const hashesAt = async (height: bigint) => (await chain.blocks.txs(height)).map(({ tx }) => txHash(tx));
  return (height) => {
    if (last?.height !== height) last = { height, hashes: hashesAt(height) };
    return last.hashes;
  };
}

async function withProof(hashesOf: ReturnType<typeof proofsOf>, found: FoundTx, prove: boolean) {
  if (!prove) return foundTxJson(found);
  const hashes = await hashesOf(found.height);
  const proof = {
    root_hash: toHexUpper(merkleRoot(hashes)),
    data: toBase64(found.tx),
    proof: proofJson(merkleProof(hashes, found.index)),
  };
  return { ...foundTxJson(found), proof };
}
