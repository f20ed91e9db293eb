import { once } from "node:events";
import { connect } from "node:tls";
import { afterEach, expect, it, vi } from "vitest";
import { Reading } from "../../util/index.ts";
import { GatewayHarness } from "../testing/gateway.ts";

const HEADERS_MS = 100;

afterEach(() => void vi.restoreAllMocks());

it("refuses no request as late whose connection waits for its turn to be read", async () => {
  const harness = await GatewayHarness.open({ headersTimeout: HEADERS_MS });
  const waits = vi.spyOn(Reading.prototype, "isWaiting").mockReturnValue(true);
  const client = connect({ host: "127.0.0.1", port: harness.port, rejectUnauthorized: false });
  client.on("error", () => {}).write("GET /version HTTP/1.1\r\nHost: localhost\r\n");
  const answer = once(client, "data");
  // What was waited for comes once the server has looked for late requests several times.
  await vi.waitFor(() => expect(waits.mock.calls.length).toBeGreaterThan(3), { timeout: 30_000 });
  client.write("\r\n");
  expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 200 /);
  client.destroy();
  await harness.close();
});
