import { once } from "node:events";
import { type AddressInfo, BlockList, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ClientCounts, type ClientRules } from "./clients.ts";
import { Entry } from "./entry.ts";
import { Forwarder } from "./proxy/forward.ts";
import { Certificates } from "./tls/certificates.ts";

const HANDSHAKE_MS = 1_000;
const LIMIT = 3;
/** The first bytes of a record that greets a server; the rest never comes. */
const BEGUN = Buffer.from("160301020001", "hex");

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function listen(certificates?: Certificates): Promise<number> {
  const clients: ClientRules = {
    connectionsPerAddress: LIMIT,
    trustedProxies: new BlockList(),
    forwardedFrom: new BlockList(),
  };
  const entry = new Entry({
    clients,
    counts: new ClientCounts(clients),
    maxConnections: 100,
    forwarder: new Forwarder({ backends: () => [] }),
    decide: () => expect.unreachable("no request is finished"),
    isDraining: () => false,
    handshakeMs: HANDSHAKE_MS,
    ...(certificates === undefined ? {} : { certificates }),
  });
  entry.listener.listen(0, "127.0.0.1");
  await once(entry.listener, "listening");
  cleanups.push(() => entry.close());
  return (entry.listener.address() as AddressInfo).port;
}

async function open(port: number, bytes?: Buffer): Promise<{ readonly closed: Promise<unknown> }> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  cleanups.push(() => socket.destroy());
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  socket.resume();
  if (bytes !== undefined) socket.write(bytes);
  return { closed };
}

describe("connections that do not finish their handshake", () => {
  it.each([
    ["say nothing", undefined],
    ["begin it", BEGUN],
  ])("are ended when they %s", async (_, bytes) => {
    const { closed } = await open(await listen(new Certificates([])), bytes);
    await closed;
  });

  it("count among those of their address while they last, and no longer", async () => {
    const port = await listen(new Certificates([]));
    for (const round of ["first", "second"]) {
      const held = await Promise.all(Array.from({ length: LIMIT }, () => open(port, BEGUN)));
      const over = await open(port, BEGUN);
      const ends = [over.closed.then(() => "over"), ...held.map(({ closed }) => closed.then(() => "held"))];
      expect([round, await Promise.race(ends)]).toEqual([round, "over"]);
      await Promise.all(held.map(({ closed }) => closed));
    }
  });
});
