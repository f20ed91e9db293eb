// Queries a node over JSON-RPC with nothing but fetch, as any language can.
const node = (process.env.SVC_NODE ?? "http://localhost:26657").replace("tcp://", "http://");

interface Answer<T> {
  readonly result: T;
  readonly error?: { readonly message: string; readonly data: string };
}

async function call<T>(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(node, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = (await answer.json()) as Answer<T>;
  if (error !== undefined) throw new Error(`${method}: ${error.message} ${error.data}`);
  return result;
}

interface Status {
  readonly node_info: { readonly network: string };
  readonly sync_info: { readonly latest_block_height: string };
}

const status = await call<Status>("status");
console.log(`chain ${status.node_info.network} at height ${status.sync_info.latest_block_height}`);

interface Found {
  readonly txs: readonly { readonly hash: string; readonly height: string }[];
  readonly total_count: string;
}

const { txs, total_count } = await call<Found>("tx_search", {
  query: "message.action='send'",
  per_page: "5",
  order_by: "desc",
});
console.log(`${total_count} transfers`);
for (const { hash, height } of txs) console.log(`${hash} in block ${height}`);

// Makes the file a module, although it imports nothing.
export {};
