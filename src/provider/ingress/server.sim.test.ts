import { createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { brokenClients } from "../../../test/support/broken-clients.ts";
import { fetchPage } from "../../../test/support/http.ts";
import { type Rng, seedFrom } from "../../../test/support/rng.ts";
import { sized } from "../../../test/support/runs.ts";
import { Ingress } from "./index.ts";

const HOST = "app.localhost";
const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const OPTIONS = { maxBodySize: 100, readTimeout: 200, sendTimeout: 200, nextTries: 3, nextTimeout: 0 };

const ANSWERS = [
  "",
  "garbage\r\n\r\n",
  "HTTP/1.1 99 X\r\n\r\n",
  "HTTP/1.1 200 \x01\x02\r\nA: \xff\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 N\r\n\r\n",
  "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nabc",
];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A tenant's program that answers anything and breaks off at any moment; returns its address. */
async function brokenReplica(rng: Rng): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("close", () => sockets.delete(socket));
    const [answer, end] = [ANSWERS[rng.below(ANSWERS.length)] ?? "", rng.below(5)];
    if (end === 0) return socket.resetAndDestroy();
    socket.once("data", () =>
      socket.write(Buffer.from(answer, "latin1"), () => {
        if (end === 1) socket.resetAndDestroy();
        else if (end === 2) socket.end();
        else if (end === 3) socket.pipe(socket);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return `127.0.0.1:${address.port}`;
}

// An error that escapes ends a provider; here it fails the run.
it("answers after hundreds of clients that broke every rule, between programs that do", async () => {
  const rng = seedFrom("SVC_TEST_SEED");
  const backends = [await brokenReplica(rng), await brokenReplica(rng)];
  // On a slow machine many clients have not closed yet when the last one asks.
  const clients = { connectionsPerAddress: 4_000 };
  const ingress = new Ingress({ backends: () => backends, host: "127.0.0.1", port: 0, clients });
  ingress.routes.set(HOST, { lease: LEASE, service: "web", port: 80, options: OPTIONS });
  cleanups.push(() => ingress.close());
  const port = await ingress.listen();
  await brokenClients(port, { rng, hosts: [HOST, HOST, HOST, "unknown.example"], count: sized(500, 2_000) });
  expect(await fetchPage(`http://unknown.localhost:${port}/`)).toContain("No deployment on this provider");
});
