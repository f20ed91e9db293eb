import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { httpTransport } from "./transport.ts";

/** The answer of a server to a post, as a client that takes 1,000 bytes reads it. */
async function post(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = httpTransport(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), () => 1_000);
  onTestFinished(() => {
    transport.close();
    server.close().closeAllConnections();
  });
  return transport.post("{}", 10_000);
}

const answers = (status: number, text: string, headers = {}) =>
  post((_request, response) => response.writeHead(status, headers).end(text));

it.each([
  [200, "page"],
  [299, "page"],
  [300, "[1]"],
  [500, ' \n{"error":1}'],
])("status %i with %j is the answer of a node", async (status, text) => {
  expect(await answers(status, text)).toBe(text);
});

it.each([
  [300, "page", {}, ""],
  [404, "", {}, ""],
  [302, "page", { location: "/elsewhere" }, ', and redirects to "/elsewhere"'],
  [502, "page {}", {}, ""],
])("status %i with %j is the answer of another server", async (status, text, headers, more) => {
  const message = `the server answers with HTTP status ${status}${more}`;
  await expect(answers(status, text, headers)).rejects.toThrow(message);
});

it.each([
  [429, { "retry-after": "3" }, 3_000],
  [503, { "retry-after": "999999" }, 999_999_000],
  [503, { "retry-after": "1000000" }, undefined],
  [503, { "retry-after": "Fri, 01 Jan 2027 00:00:00 GMT" }, undefined],
  [503, {}, undefined],
])("status %i with %j is that of a busy server, JSON or not", async (status, headers, retryAfterMs) => {
  await expect(answers(status, "{}", headers)).rejects.toMatchObject({ name: "BusyError", retryAfterMs });
});

it("an answer has at most the given number of bytes", async () => {
  expect(await answers(200, "x".repeat(1_000))).toHaveLength(1_000);
  await expect(answers(200, "x".repeat(1_001))).rejects.toThrow("the answer is larger than 1000 bytes");
});
