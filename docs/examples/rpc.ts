// Asks a node over JSON-RPC with nothing but fetch, as any language can.
const node = (process.env.SVC_NODE ?? "http://localhost:26657").replace("tcp://", "http://");

async function call(method: string, params: Readonly<Record<string, unknown>> = {}) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(node, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = await answer.json();
  if (error !== undefined) throw new Error(`${method}: ${error.message} ${error.data}`);
  return result;
}

const status = await call("status");
console.log(`chain ${status.node_info.network} at height ${status.sync_info.latest_block_height}`);

const { txs, total_count } = await call("tx_search", {
  query: "message.action='send'",
  per_page: "5",
  order_by: "desc",
});
console.log(`${total_count} transfers`);
for (const { hash, height } of txs) console.log(`${hash} in block ${height}`);
