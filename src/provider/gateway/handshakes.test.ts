import { connect as connectPlain } from "node:net";
import { connect } from "node:tls";
import { afterEach, expect, it, vi } from "vitest";
import { closed } from "../../../test/support/closed.ts";
import { Reading } from "../../util/index.ts";
import { GatewayHarness } from "../testing/gateway.ts";
import type { GatewayLimits } from "./limits.ts";

const HANDSHAKE_MS = 50;
const ASK = "GET /address HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n";

let harness: GatewayHarness | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await harness?.close();
  harness = undefined;
});

async function openGateway(
  limits: Partial<GatewayLimits> = { handshakeTimeout: HANDSHAKE_MS },
): Promise<{ readonly host: string; readonly port: number; readonly grpcPort: number }> {
  harness = await GatewayHarness.open(limits, { grpc: true });
  return { host: "127.0.0.1", port: harness.port, grpcPort: harness.gateway.grpcPort ?? 0 };
}

/** What the server says until it ends the connection. */
async function heard(socket: ReturnType<typeof connectPlain>): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  await closed(socket);
  return text;
}

it("a client that did its part of the handshake is served, however long the provider was busy meanwhile", async () => {
  const socket = connect({ ...(await openGateway()), rejectUnauthorized: false }, () => {
    socket.write(ASK);
    blockFor(4 * HANDSHAKE_MS);
  });
  expect(await heard(socket)).toContain("HTTP/1.1 200 OK");
});

it("a client whose handshake waits for its turn to be read is served, although the time for it is over", async () => {
  const gateway = await openGateway();
  vi.spyOn(Reading.prototype, "isWaiting").mockReturnValue(true);
  const below = connectPlain(gateway.port, gateway.host);
  await new Promise((resolve) => setTimeout(resolve, 8 * HANDSHAKE_MS));
  const socket = connect({ socket: below, rejectUnauthorized: false }, () => socket.write(ASK));
  expect(await heard(socket)).toContain("HTTP/1.1 200 OK");
});

it.each([
  ["port", ""],
  ["port", "GET / HTTP/1.1\r\n\r\n"],
  ["grpcPort", ""],
  ["grpcPort", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
] as const)("a connection to %s that shakes no hands and says %j is ended", async (name, said) => {
  const gateway = await openGateway();
  const socket = connectPlain(gateway[name], gateway.host, () => socket.write(said));
  expect(await heard(socket)).not.toContain("HTTP");
});

it("a connection that sends hundreds of requests at once is ended, and one that sends some is answered", async () => {
  const gateway = await openGateway({});
  const request = ASK.replace("connection: close\r\n", "");
  const answers = async (text: string) => {
    const socket = connect({ ...gateway, rejectUnauthorized: false }, () => socket.write(text));
    return (await heard(socket)).split("HTTP/1.1 200").length - 1;
  };
  expect(await answers(request.repeat(9) + ASK)).toBe(10);
  expect(await answers(request.repeat(300))).toBeLessThan(20);
});

/** Nothing else happens in this process, of which the gateway is a part. */
function blockFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
