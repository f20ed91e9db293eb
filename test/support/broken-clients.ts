import { connect } from "node:net";
import { upgradeRequest } from "./break-off.ts";
import { closed } from "./closed.ts";
import type { Rng } from "./rng.ts";

type Some<T> = readonly [T, ...T[]];

const ENDS: Some<"reset" | "close" | "end" | "more"> = ["reset", "close", "end", "more"];

/** One client's data, and the way it leaves. */
interface Plan {
  readonly text: Buffer;
  readonly end: (typeof ENDS)[number];
  readonly more: Buffer;
  /** Milliseconds after which it leaves in any case. */
  readonly stayMs: number;
}

const METHODS: Some<string> = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "TRACE", "CONNECT", "FOO", "PRI"];
const PATHS: Some<string> = [
  "/",
  "//",
  "*",
  "/%zz",
  "http://x/",
  "/websocket",
  "/status?x",
  "/tx_search?query=%22a%22",
  "/genesis",
];
const HEADERS: Some<string> = [
  "",
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
  "Connection: Upgrade\r\nUpgrade: websocket\r\n",
  "Connection: Upgrade\r\nUpgrade: h2c\r\n",
  "Content-Length: 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Expect: 100-continue\r\nContent-Length: 500\r\n",
  "Connection: close, x-a\r\nX-A: 1\r\n",
  "Content-Encoding: gzip\r\nContent-Length: 3\r\n",
];
const BODIES: Some<string> = [
  "",
  "hello",
  "5\r\nhello\r\n0\r\n\r\n",
  '{"jsonrpc":"2.0","id":1,"method":"status"}',
  "\x81\x85\0\0\0\0hello",
  "\x81\x05hello",
  "\x88\x02\x03\xe8",
  "x".repeat(2_000),
];

/** Clients that break every rule and disconnect at any moment, against an HTTP server. Resolves when all have gone. */
export async function brokenClients(port: number, { rng, hosts, count }: BrokenClients): Promise<void> {
  const plans = Array.from({ length: count }, () => planOf(rng, hosts));
  const client = async () => {
    for (let plan = plans.pop(); plan !== undefined; plan = plans.pop()) await run(port, plan);
  };
  await Promise.all(Array.from({ length: 16 }, client));
}

export interface BrokenClients {
  readonly rng: Rng;
  /** Values of the header `Host`. */
  readonly hosts: Some<string>;
  readonly count: number;
}

function planOf(rng: Rng, hosts: Some<string>): Plan {
  const pick = <T>(list: Some<T>): T => list[rng.below(list.length)] ?? list[0];
  const host = pick([...hosts, "", "x\r\nHost: y"]);
  const request = `${pick(METHODS)} ${pick(PATHS)} HTTP/1.${rng.below(2)}\r\nHost: ${host}\r\n${pick(HEADERS)}${pick(HEADERS)}\r\n`;
  const text = rng.below(4) === 0 ? upgradeRequest(host, pick(PATHS)) : request + pick(BODIES);
  const bytes = Buffer.from(text, "latin1");
  return {
    text: rng.below(5) === 0 ? bytes.subarray(0, rng.below(bytes.length)) : bytes,
    end: pick(ENDS),
    more: Buffer.from(pick(BODIES), "latin1"),
    stayMs: rng.between(20, 60),
  };
}

async function run(port: number, { text, end, more, stayMs }: Plan): Promise<void> {
  const socket = connect(port, "127.0.0.1", () =>
    socket.write(text, () => {
      if (end === "reset") socket.resetAndDestroy();
      else if (end === "close") socket.destroy();
      else if (end === "end") socket.end();
      else socket.write(more);
    }),
  );
  const timer = setTimeout(() => socket.destroy(), stayMs);
  socket.on("error", () => {});
  socket.resume();
  await closed(socket);
  clearTimeout(timer);
}
