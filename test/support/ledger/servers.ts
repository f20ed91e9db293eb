import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { concatBytes, fromHex, toHex } from "../../../src/util/index.ts";
import type { EmulatedDevice } from "./device.ts";

/** A device that is reached over one of the emulator's two interfaces. */
export interface DeviceServer {
  /** For `--ledger-transport`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Length and command in; length of the data, data and status out. */
export async function serveTcp(device: EmulatedDevice): Promise<DeviceServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    let received: Uint8Array = new Uint8Array();
    socket.on("data", (chunk) => {
      received = concatBytes(received, chunk);
      if (received.length < 4) return;
      const length = Buffer.from(received).readUInt32BE(0);
      if (received.length < 4 + length) return;
      const apdu = received.subarray(4, 4 + length);
      received = received.subarray(4 + length);
      device.exchange(apdu).then(
        (answer) => {
          const head = Buffer.alloc(4);
          head.writeUInt32BE(Math.max(answer.length - 2, 0));
          socket.write(concatBytes(head, answer));
        },
        () => socket.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `tcp://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** `POST /apdu` with hexadecimal data, both ways. */
export async function serveHttp(device: EmulatedDevice): Promise<DeviceServer> {
  const server = createHttpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    if (request.method !== "POST" || request.url !== "/apdu") {
      response.writeHead(404).end("no such page");
      return;
    }
    try {
      const answer = await device.exchange(fromHex(JSON.parse(body).data));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: toHex(answer) }));
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
