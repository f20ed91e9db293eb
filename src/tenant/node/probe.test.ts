import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { isFromService } from "../session/probe.ts";
import { networkProbe } from "./probe.ts";

describe("looking from outside", () => {
  const never = new AbortController().signal;
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function listen(status: number, body: string): Promise<number> {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  test("the status and the start of the answer", async () => {
    const port = await listen(200, "x".repeat(1000));
    const answer = await networkProbe.http(`http://127.0.0.1:${port}/`, never);
    expect(answer).toEqual({ status: 200, start: "x".repeat(200), isPlain: true });
    const empty = await listen(204, "");
    expect(await networkProbe.http(`http://127.0.0.1:${empty}/`, never)).toMatchObject({ status: 204, start: "" });
  });

  test("names below localhost are this machine", async () => {
    const port = await listen(200, "here");
    const answer = await networkProbe.http(`http://some-name.localhost:${port}/`, never);
    expect(answer).toMatchObject({ status: 200, start: "here" });
    await networkProbe.tcp("other-name.localhost", port, never);
  });

  test("nobody there", async () => {
    const port = await listen(200, "");
    for (const close of closers.splice(0)) close();
    await expect(networkProbe.http(`http://127.0.0.1:${port}/`, never)).rejects.toThrow("ECONNREFUSED");
    await expect(networkProbe.tcp("127.0.0.1", port, never)).rejects.toThrow("ECONNREFUSED");
  });

  test("what the ingress says for a service is not an answer of the service", () => {
    expect(isFromService({ status: 503, start: "" })).toBe(false);
    expect(isFromService({ status: 404, start: "404 No deployment on this provider has this host name.\n" })).toBe(
      false,
    );
    expect(isFromService({ status: 404, start: "no such page" })).toBe(true);
    expect(isFromService({ status: 500, start: "" })).toBe(true);
  });
});
