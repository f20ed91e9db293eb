import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { closed } from "../../../../test/support/closed.ts";
import { Reading } from "../../../util/index.ts";
import { limitServer } from "./listen.ts";

const HEADERS_MS = 50;
const HEAD = "GET / HTTP/1.1\r\nHost: localhost\r\n";

/** Connections that are stopped while this is set are not read. */
const others = { isAccepting: false };
/** Any work takes a whole turn. */
const reading = new Reading(others, 0);
const server = createServer({ connectionsCheckingInterval: 10 }, (_request, response) => response.end("served"));
limitServer(server, { maxOpenConnections: 10, reading });
server.headersTimeout = HEADERS_MS;

beforeEach(async () => {
  others.isAccepting = false;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function open(text: string) {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {}).write(text);
  return client;
}

it("answers a request that waited for its turn to be read for longer than headers may take", async () => {
  others.isAccepting = true;
  const client = open(`${HEAD}\r\n`);
  const [answer] = await Promise.all([
    once(client, "data"),
    // The server looks at its connections several times.
    new Promise((resolve) => setTimeout(resolve, 10 * HEADERS_MS)).then(() => {
      others.isAccepting = false;
    }),
  ]);
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 .*served/s);
  client.destroy();
});

it("ends a connection whose headers do not come", async () => {
  const client = open(HEAD);
  let text = "";
  client.on("data", (part) => {
    text += String(part);
  });
  await closed(client);
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
});

it("ends one whose headers have not come when its turn comes", async () => {
  others.isAccepting = true;
  const client = open(HEAD);
  let text = "";
  client.on("data", (part) => {
    text += String(part);
  });
  setTimeout(() => {
    others.isAccepting = false;
  }, 10 * HEADERS_MS);
  await closed(client);
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
});
