import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Reading } from "../../../util/index.ts";
import type { Forwarder } from "./forward.ts";
import { LIMITS, serveHttp1 } from "./http1.ts";

/** Connections that are stopped while this is set are not read. */
const others = { isAccepting: true };
/** Any work takes a whole turn. */
const reading = new Reading(others, 0);
const server = serveHttp1({
  decide: () => ({ text: "served" }),
  forwarder: {} as Forwarder,
  isTooMany: () => false,
  isDraining: () => false,
  reading,
});
server.headersTimeout = 50;
server.on("connection", (socket) => reading.add(socket));
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it("answers a request that waited for its turn to be read for longer than headers may take", async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // Node.js has looked for late requests by then.
  setTimeout(() => Object.assign(others, { isAccepting: false }), 2 * LIMITS.connectionsCheckingInterval);
  const [answer] = await once(client, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 .*served/s);
  client.destroy();
});
