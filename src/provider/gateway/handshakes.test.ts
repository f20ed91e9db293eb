import { connect as connectPlain } from "node:net";
import { connect } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { closed } from "../../../test/support/closed.ts";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import type { GatewayLimits } from "./limits.ts";

const HANDSHAKE_MS = 50;
const ASK = "GET /address HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n";

let harness: GatewayHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

async function openGateway(
  limits: Partial<GatewayLimits> = { handshakeTimeout: HANDSHAKE_MS },
): Promise<{ readonly host: string; readonly port: number; readonly grpcPort: number }> {
  harness = await GatewayHarness.open(limits, { grpc: true });
  return { host: "127.0.0.1", port: harness.port, grpcPort: harness.gateway.grpcPort ?? 0 };
}

/** The server's bytes until it ends the connection. */
async function heard(socket: ReturnType<typeof connectPlain>): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  await closed(socket);
  return text;
}

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
