import { request } from "node:http";
import { connect, type Socket } from "node:net";

/** Where a node listens, from an address as `--node` takes it. */
export interface Door {
  readonly host: string;
  readonly port: number;
}

export function doorOf(address: string): Door {
  const { hostname, port } = new URL(address);
  return { host: hostname, port: Number(port) };
}

/** Text of a request with a body, as it goes over the wire. */
export function postText(body: string): string {
  const bytes = Buffer.byteLength(body);
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n${body}`;
}

export function getText(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
}

/** Addresses of attackers: each has a share of a server's connections. */
const STRANGERS = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
let opened = 0;

/** The address of the next attacker. */
export function nextStranger(): string {
  return STRANGERS[opened++ % STRANGERS.length] ?? "";
}

/**
 * A connection of one attacker after the other that sends something; its errors do not matter, because the node may close it at
 * any time.
 */
export function openSocket(door: Door, text: string | Uint8Array = ""): Socket {
  const socket = connect({ ...door, localAddress: nextStranger() });
  socket.on("error", () => {});
  if (text.length > 0) socket.write(text);
  return socket;
}

/** A connection that sends something and never reads. */
export function deafSocket(door: Door, text: string): Socket {
  const socket = openSocket(door, text);
  socket.pause();
  return socket;
}

export interface RawAnswer {
  readonly status: number;
  readonly bytes: number;
  /** The first part of it. */
  readonly text: string;
}

export interface AskSettings {
  /** Bytes of the answer that are kept; 100,000 unless given. */
  readonly kept?: number;
}

/** Sends one request on its own connection and reads the answer to its end; what is large is counted, not kept. */
export function ask(door: Door, path: string, body?: string, settings: AskSettings = {}): Promise<RawAnswer> {
  const { kept = 100_000 } = settings;
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const sent = request(
      { ...door, path, method: body === undefined ? "GET" : "POST", headers, agent: false },
      (it) => {
        let bytes = 0;
        const chunks: Buffer[] = [];
        it.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= kept) chunks.push(chunk);
        });
        it.once("end", () =>
          resolve({ status: it.statusCode ?? 0, bytes, text: Buffer.concat(chunks).toString("utf8") }),
        );
        it.once("error", reject);
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Text of a JSON-RPC call. */
export function callText(method: string, params: unknown = {}, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}
