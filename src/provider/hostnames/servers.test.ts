import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { dnsProver, resolverLookups } from "./index.ts";

const HOST = "www.example.org";
const LIMIT_MS = 500;

/** A resolver on both UDP and TCP of one port. */
async function resolver(onQuery: (query: Buffer, answer: (bytes: Buffer) => void) => void, onTcp: (s: Socket) => void) {
  const tcp = createServer((socket) => {
    socket.on("error", () => {});
    onTcp(socket);
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket("udp4");
  udp.on("message", (query, { port: to, address }: RemoteInfo) =>
    onQuery(query, (bytes) => udp.send(bytes, to, address)),
  );
  udp.bind(port, "127.0.0.1");
  await once(udp, "listening");
  onTestFinished(() => {
    udp.close();
    tcp.close();
  });
  return `127.0.0.1:${port}`;
}

function prove(server: string) {
  const aliasOf = () => "alias.example.com";
  return dnsProver({ aliasOf, open: resolverLookups([server]), limitMs: LIMIT_MS }).prove(HOST, "svc1alice");
}

it("a resolver that never answers proves nothing, and is not waited for", async () => {
  let queries = 0;
  const server = await resolver(
    () => queries++,
    () => {},
  );
  expect(await prove(server)).toBe("unknown");
  expect(queries).toBeGreaterThan(0);
});

it("answers that are malformed, belong to another question or are cut short prove nothing", async () => {
  for (const spoil of [
    () => Buffer.alloc(9_000, 0xff),
    (query: Buffer) => Buffer.concat([Buffer.from([0xab, 0xcd]), query.subarray(2)]),
    (query: Buffer) => Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80, 0, 1, 0xff, 0xff])]),
  ]) {
    const server = await resolver(
      (query, answer) => answer(spoil(query)),
      () => {},
    );
    expect(await prove(server)).toBe("unknown");
  }
});

it("a resolver that sends without end over TCP proves nothing, and is hung up on", async () => {
  const open = new Set<Socket>();
  let calls = 0;
  const server = await resolver(
    (query, answer) => {
      const truncated = Buffer.from(query);
      truncated.writeUInt16BE(0x8380, 2);
      answer(truncated);
    },
    (socket) => {
      calls++;
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(1 << 16, 0xff)));
        if (!socket.destroyed) socket.once("drain", more);
      };
      more();
    },
  );
  expect(await prove(server)).toBe("unknown");
  expect(calls).toBeGreaterThan(0);
  await expect.poll(() => open.size, { timeout: 30_000 }).toBe(0);
});
