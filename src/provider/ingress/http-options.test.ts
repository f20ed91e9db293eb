import { once } from "node:events";
import { createServer, request as httpRequest, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { HttpOptions } from "../../sdl/index.ts";
import { Ingress } from "./index.ts";

/** Every field of `http_options`, at its limit and one beyond it. */

const HOST = "app.example.com";
const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const OPTIONS: HttpOptions = {
  maxBodySize: 1_000,
  readTimeout: 5_000,
  sendTimeout: 5_000,
  nextTries: 3,
  nextTimeout: 0,
};
/** Maximum that deployment files may request. */
const MOST_HEADERS = 1_048_576;

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function replica(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close().closeAllConnections());
  const address = server.address();
  return typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
}

async function ingress(backends: readonly string[], options: Partial<HttpOptions>): Promise<number> {
  const made = new Ingress({ backends: () => backends, host: "127.0.0.1", port: 0 });
  cleanups.push(() => made.close());
  made.routes.set(HOST, { lease: LEASE, service: "web", port: 80, options: { ...OPTIONS, ...options } });
  return made.listen();
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function send(port: number, { method = "GET", body = "", path = "/" } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: HOST };
    const options = { port, host: "127.0.0.1", method, path, headers, agent: false, maxHeaderSize: 2 * MOST_HEADERS };
    const asked = httpRequest(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    asked.on("error", reject).end(body === "" ? undefined : body);
  });
}

/** A replica that takes websockets. */
async function websockets(): Promise<string> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  cleanups.push(() => server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
}

/** An address where nothing listens. */
async function nobody(): Promise<string> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
}

/** The status of the answer to a wish for a websocket. */
function upgrade(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: HOST } });
    socket.once("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.resume().statusCode ?? 0);
      socket.terminate();
    });
    socket.on("error", reject);
  });
}

/** Replicas that answer with these statuses, each counted. */
async function statuses(...all: readonly number[]) {
  const asked: number[] = [];
  const addresses = await Promise.all(
    all.map((status) =>
      replica((request, response) => {
        asked.push(status);
        request.resume().on("end", () => response.writeHead(status).end(`from ${status}`));
      }),
    ),
  );
  return { addresses, asked };
}

describe("max_body_size", () => {
  it.each([0, 1, 104_857_600])("%i bytes pass, and none more", async (maxBodySize) => {
    const sizes: number[] = [];
    const address = await replica((request, response) => {
      let size = 0;
      request.on("data", (piece: Buffer) => {
        size += piece.length;
      });
      request.on("end", () => {
        sizes.push(size);
        response.end();
      });
    });
    const port = await ingress([address], { maxBodySize });
    const body = "x".repeat(maxBodySize);
    expect((await send(port, { method: "PUT", body })).status).toBe(200);
    expect((await send(port, { method: "PUT", body: `${body}x` })).status).toBe(413);
    expect(sizes).toEqual([maxBodySize]);
  });
});

describe("next_cases", () => {
  it.each([500, 502, 503, 504, 403, 404, 429])(
    "%i leads to the next replica where it is named, and only there",
    async (status) => {
      const { addresses } = await statuses(status, 200);
      const named = await ingress(addresses, { nextCases: [String(status)] });
      for (let n = 0; n < 2; n++) expect((await send(named)).status).toBe(200);
      const other = await ingress(addresses, { nextCases: ["error", "timeout"] });
      const seen = [await send(other), await send(other)].map((answer) => answer.status);
      expect(seen.sort()).toEqual([200, status].sort());
    },
  );

  it("timeout leads to the next replica where it is named", async () => {
    const silent = await replica(() => {});
    const { addresses } = await statuses(200);
    // Enough for the replica that answers.
    const readTimeout = 1_000;
    const port = await ingress([silent, ...addresses], { readTimeout, nextCases: ["timeout"] });
    for (let n = 0; n < 2; n++) expect((await send(port)).status).toBe(200);
    const none = await ingress([silent, ...addresses], { readTimeout, nextCases: ["error"] });
    expect([(await send(none)).status, (await send(none)).status].sort()).toEqual([200, 504]);
  });

  it("off keeps everything at the first replica, websockets too", async () => {
    const { addresses } = await statuses(500, 200);
    const port = await ingress(addresses, { nextCases: ["off"] });
    expect([(await send(port)).status, (await send(port)).status].sort()).toEqual([200, 500]);
    const sockets = await websockets();
    const upgraded = async (options: Partial<HttpOptions>) => {
      const at = await ingress([await nobody(), sockets], options);
      return [await upgrade(at), await upgrade(at)].sort();
    };
    expect(await upgraded({ nextCases: ["off"] })).toEqual([101, 502]);
    expect(await upgraded({ nextTries: 1 })).toEqual([101, 502]);
    expect(await upgraded({})).toEqual([101, 101]);
  });
});

describe("next_tries", () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [0, 4],
  ])("%i asks %i of four replicas", async (nextTries, count) => {
    const { addresses, asked } = await statuses(500, 500, 500, 500);
    const port = await ingress(addresses, { nextTries, nextCases: ["500"] });
    expect(await send(port)).toMatchObject({ status: 500, body: "from 500" });
    expect(asked).toHaveLength(count);
  });
});

describe("next_timeout", () => {
  it("ends the search for a replica; 0 does not", async () => {
    let asked = 0;
    const slow = () =>
      replica((_request, response) => {
        asked += 1;
        setTimeout(() => response.writeHead(500).end(), 60);
      });
    const addresses = [await slow(), await slow(), await slow()];
    expect((await send(await ingress(addresses, { nextTimeout: 50, nextCases: ["500"] }))).status).toBe(500);
    expect(asked).toBe(1);
    asked = 0;
    expect((await send(await ingress(addresses, { nextTimeout: 0, nextCases: ["500"] }))).status).toBe(500);
    expect(asked).toBe(3);
  });
});

describe("proxy_buffer_size", () => {
  /** The replica's headers are some bytes longer than the value. */
  async function answerWith(length: number, proxyBufferSize?: number): Promise<Answer> {
    const address = await replica((_request, response) =>
      response.writeHead(200, { "x-long": "v".repeat(length) }).end(),
    );
    return send(await ingress([address], proxyBufferSize === undefined ? {} : { proxyBufferSize }));
  }

  it("is how long the headers of an answer may be, 16 KiB at least", async () => {
    expect((await answerWith(15 << 10)).status).toBe(200);
    expect((await answerWith(17 << 10)).status).toBe(502);
    expect((await answerWith(17 << 10, 4_096)).status).toBe(502);
    expect((await answerWith(17 << 10, 20 << 10)).headers["x-long"]).toHaveLength(17 << 10);
    expect((await answerWith(21 << 10, 20 << 10)).status).toBe(502);
    expect((await answerWith(MOST_HEADERS - 1_024, MOST_HEADERS)).status).toBe(200);
    expect((await answerWith(MOST_HEADERS + 1, MOST_HEADERS)).status).toBe(502);
  });
});
