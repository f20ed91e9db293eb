import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { type WebSocket, WebSocketServer } from "ws";
import { fromHex, SvcError, toBase64 } from "../../src/util/index.ts";
import { encodeMessage, findMethod } from "../../src/wire/index.ts";

type Params = Readonly<Record<string, unknown>>;

/** Thrown by a method of the double to answer with a JSON-RPC error. */
export class Refusal extends Error {
  readonly rpcCode: number;
  readonly data: string;

  constructor(data: string, rpcCode = -32603) {
    super("Internal error");
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/**
 * A small JSON-RPC server for tests of the client: methods are functions of the test, queries of the application are
 * answered from protobuf messages, events are sent by hand.
 */
export class NodeDouble {
  readonly methods: Record<string, (params: Params) => unknown> = {};
  /** Requests in the order they came: method names, batches as one entry joined by commas. */
  readonly seen: string[] = [];
  readonly subscriptions: { socket: WebSocket; id: unknown; query: string }[] = [];
  connections = 0;
  #server: Server | undefined;
  #sockets: WebSocketServer | undefined;
  #port = 0;

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Listens; after `stop` on the same port again. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.on("connection", () => {
      this.connections += 1;
    });
    const sockets = new WebSocketServer({ server, path: "/websocket" });
    sockets.on("connection", (socket) => this.#accept(socket));
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#sockets = sockets;
  }

  async stop(): Promise<void> {
    for (const client of this.#sockets?.clients ?? []) client.terminate();
    this.subscriptions.length = 0;
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  /** Answers an rpc of the application. Throw `SvcError` for its errors. */
  answerQuery<M extends DescMethod>(
    method: M,
    answer: (request: Uint8Array, params: Params) => MessageInitShape<M["output"]>,
  ): void {
    const others = this.methods.abci_query;
    this.methods.abci_query = (params) => {
      if (findMethod(String(params.path)) !== method) return others?.(params);
      const base = { info: "", index: "0", key: null, proofOps: null, height: String(params.height || "7") };
      try {
        const output: M["output"] = method.output;
        const value = encodeMessage(output, create(output, answer(fromHex(String(params.data)), params)));
        return { response: { ...base, code: 0, log: "", codespace: "", value: toBase64(value) } };
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        const info = "info" in error ? String(error.info) : "";
        const { code, codespace, message: log } = error;
        return { response: { ...base, info, code, codespace, log, value: null } };
      }
    };
  }

  /** Sends an event to every subscription whose query begins with the text. */
  emit(query: string, type: string, value: unknown): void {
    for (const { socket, id, query: own } of this.subscriptions) {
      if (!own.startsWith(query)) continue;
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: { query: own, data: { type, value }, events: {} } }));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    const content: unknown = JSON.parse(body);
    const answer = Array.isArray(content) ? content.map((each) => this.#answer(each)) : this.#answer(content as Params);
    this.seen.push((Array.isArray(content) ? content : [content]).map((each) => each.method).join(","));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  }

  #answer({ id, method, params }: Params): Params {
    try {
      const result = this.methods[String(method)]?.(params as Params);
      if (result === undefined) return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
      return { jsonrpc: "2.0", id, result };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { jsonrpc: "2.0", id, error: { code: error.rpcCode, message: error.message, data: error.data } };
    }
  }

  #accept(socket: WebSocket): void {
    socket.on("message", (data) => {
      const { id, method, params } = JSON.parse(data.toString()) as Params & { params: { query?: string } };
      const { query = "" } = params;
      if (method === "health") {
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
        return;
      }
      const isKnown = this.subscriptions.some((each) => each.socket === socket && each.query === query);
      if (query.includes("bad") || (method === "subscribe" && isKnown)) {
        const data = isKnown ? "already subscribed" : "failed to parse query";
        const error = { code: -32603, message: "Internal error", data };
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, error }));
        return;
      }
      if (method === "subscribe") this.subscriptions.push({ socket, id, query });
      else {
        const at = this.subscriptions.findIndex((each) => each.socket === socket && each.query === query);
        if (at >= 0) this.subscriptions.splice(at, 1);
      }
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
    });
  }
}

/** `status` of a node of the test chain. */
export function statusAnswer(height: number, chainId = "test-1", version = "0.38.17"): unknown {
  return {
    node_info: { id: "ab", network: chainId, version, moniker: "double" },
    sync_info: {
      latest_block_hash: "AA",
      latest_block_height: String(height),
      latest_block_time: "2026-01-01T00:00:00.5Z",
      earliest_block_height: "1",
      catching_up: false,
    },
  };
}

/** A chain of empty blocks up to `height()`: methods `status`, `block` and `block_results`. */
export function serveBlocks(
  node: NodeDouble,
  height: () => number,
  options: { chainId?: string; lowest?: number } = {},
): void {
  const { chainId = "test-1", lowest = 1 } = options;
  const check = (wanted: number): void => {
    if (wanted > height()) {
      throw new Refusal(`height ${wanted} must be less than or equal to the current blockchain height ${height()}`);
    }
    if (wanted < lowest) throw new Refusal(`height ${wanted} is not available, lowest height is ${lowest}`);
  };
  node.methods.status = () => statusAnswer(height(), chainId);
  node.methods.block = ({ height: wanted }) => {
    check(Number(wanted));
    const time = new Date(Date.UTC(2026, 0, 1) + Number(wanted) * 1000).toISOString();
    const header = { chain_id: chainId, height: String(wanted), time, app_hash: "", proposer_address: "" };
    return { block_id: { hash: `HASH${wanted}` }, block: { header, data: { txs: ["AAEC"] } } };
  };
  node.methods.block_results = ({ height: wanted }) => {
    check(Number(wanted));
    const event = (type: string) => ({ type, attributes: [{ key: "height", value: String(wanted), index: true }] });
    const result = {
      code: 0,
      data: null,
      log: "[]",
      gas_wanted: "5",
      gas_used: "4",
      events: [event("tx")],
      codespace: "",
    };
    return { height: String(wanted), txs_results: [result], finalize_block_events: [event("end")], app_hash: "" };
  };
}
