import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as requestTls } from "node:https";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, it } from "vitest";
import { IS_NIGHT, sized } from "../support/runs.ts";
import { AttackedPlane, PER_ADDRESS } from "./lib/attacked-plane.ts";
import type { FloodOrder } from "./lib/flood-process.ts";
import { outlast } from "./lib/outlast.ts";

const [ATTACKED, OTHER, UNKNOWN] = ["attacked.example.com", "other.example.com", "unknown.example.com"];
const ELSEWHERE = "127.0.0.99";

let plane: AttackedPlane;
let service: Server;

beforeAll(async () => {
  plane = await AttackedPlane.start([ATTACKED, OTHER, UNKNOWN]);
  service = createServer((_request, response) => response.end("other"));
  await once(service.listen(0, "127.0.0.1"), "listening");
  const address = service.address();
  await plane.route(1n, OTHER, `127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
});
afterAll(async () => {
  await plane?.close();
  service?.close();
});
afterEach(() => plane.endFlood());

type Protocol = "http1" | "tls" | "http2";

/** Requests the page of the other lease on a new connection. */
async function askOther(protocol: Protocol, localAddress: string): Promise<number> {
  if (protocol === "http2") return askHttp2(localAddress);
  const from = { host: "127.0.0.1", localAddress, headers: { host: OTHER }, agent: false as const };
  const { port, tlsPort, ca } = plane;
  const asked =
    protocol === "http1" ? request({ ...from, port }) : requestTls({ ...from, port: tlsPort, ca, servername: OTHER });
  const [answer] = (await once(asked.end(), "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode ?? 0;
}

async function askHttp2(localAddress: string): Promise<number> {
  const place = { host: "127.0.0.1", port: plane.tlsPort, localAddress };
  const socket = connectTls({ ...place, ca: plane.ca, servername: OTHER, ALPNProtocols: ["h2"] });
  const session = connectHttp2(`https://${OTHER}`, { createConnection: () => socket });
  try {
    const stream = session.request({}).resume();
    const [headers] = await Promise.race([
      once(stream, "response"),
      once(session, "error").then(([error]) => Promise.reject(error)),
    ]);
    await once(stream, "end");
    return headers[":status"];
  } finally {
    session.destroy();
  }
}

interface Flood extends Omit<FloodOrder, "port" | "addresses" | "connections"> {
  /** Addresses from which the flood comes. */
  readonly count: number;
  /** Protocol of the client that asks afterwards. */
  readonly by: Protocol;
}
const plain = { kind: "http1", isSecure: false, host: ATTACKED, path: "/cheap", requests: 16, by: "http1" } as const;
const secure = { ...plain, isSecure: true, by: "tls" } as const;
const floods: readonly Flood[] = [
  { ...plain, host: UNKNOWN, requests: sized(150, 900), count: 1 },
  // Visitors of a lease send the same in ingress-leases.test.ts.
  ...(IS_NIGHT ? [{ ...plain, count: 4 }, { ...plain, kind: "parts", count: 1 } as const] : []),
  { ...secure, count: 4 },
  { ...secure, kind: "http2", requests: 100, count: sized(1, 4), by: "http2" },
  { ...secure, kind: "parts of http2", count: 1, by: "http1" },
  { ...secure, kind: "handshakes", count: 16 },
];

describe("the ingress outlasts floods of as many connections as an address may have", () => {
  it.each(floods.map((flood, i) => ({ ...flood, net: `127.0.${10 + i}` })))(
    "$kind, TLS: $isSecure, $requests to $host from $count addresses",
    async ({ by, count, net, ...order }) => {
      const addresses = Array.from({ length: count }, (_, i) => `${net}.${2 + i}`);
      const flood = () => plane.flood({ ...order, dseq: 2n, connections: PER_ADDRESS, addresses });
      await outlast(flood, { flooder: plane.flooder, pid: plane.pid, ask: () => askOther(by, ELSEWHERE) });
    },
  );
});
