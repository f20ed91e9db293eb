import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parseNodeAddress } from "../../../src/client/index.ts";

type Json = ReturnType<typeof JSON.parse>;

/** Changes the result of a call; returns it unchanged where it tells the truth. */
export type Lie = (method: string, params: Json, result: Json) => Json;

export const TRUTH: Lie = (_, __, result) => result;

/** A proxy in front of a node's JSON-RPC that changes its answers. */
export interface Liar {
  /** Address of the proxy, as `--node` takes it. */
  readonly url: string;
  lie: Lie;
  /** Methods of each request, in order. */
  readonly requests: string[][];
  close(): void;
}

export async function startLiar(node: string, host = "127.0.0.1"): Promise<Liar> {
  const { origin } = parseNodeAddress(node).http;
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const asked: Json = JSON.parse(body.toString());
    const answer: Json = await (await fetch(origin, { method: "POST", body })).json();
    const [calls = [], answers = []] = [asked, answer].map((each) => [each].flat());
    liar.requests.push(calls.map(({ method }: Json) => method));
    for (const [i, each] of answers.entries()) {
      if (each.result !== undefined) each.result = liar.lie(calls[i].method, calls[i].params, each.result);
    }
    response.end(JSON.stringify(answer));
  });
  // Clients ask for blocks where no websocket is.
  server.on("upgrade", (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const liar: Liar = {
    url: `tcp://${host}:${(server.address() as AddressInfo).port}`,
    lie: TRUTH,
    requests: [],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return liar;
}

/** Lies in the proven answers about a store, or about its keys that begin with a byte, in hexadecimal. */
export function inStore(name: string, change: (response: Json) => void, prefix = ""): Lie {
  return (method, { path, prove, data }, result) => {
    const isMeant = method === "abci_query" && path === `/store/${name}/key` && prove;
    if (isMeant && String(data).startsWith(prefix)) change(result.response);
    return result;
  };
}

/** Another value than the proven one. */
export function otherValue(response: Json): void {
  const bytes = Buffer.from(response.value ?? "", "base64");
  const last = bytes.length - 1;
  response.value = last < 0 ? btoa("1") : Buffer.from(bytes.with(last, (bytes[last] ?? 0) ^ 1)).toString("base64");
}

/** Lies in headers and their votes. */
export function inHeader(change: (header: Json, commit: Json) => void): Lie {
  return (method, _, result) => {
    if (method === "commit") change(result.signed_header.header, result.signed_header.commit);
    return result;
  };
}
