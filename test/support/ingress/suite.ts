import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import { type ClientHttp2Session, connect as http2Connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { connect as tlsConnect } from "node:tls";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";
import { type ClientOptions, WebSocket, WebSocketServer } from "ws";
import type { HttpOptions } from "../../../src/sdl/index.ts";
import { sized } from "../runs.ts";
import { type GrpcClient, grpcClient, grpcReplica, REFUSED, symbol } from "./grpc.ts";

/** Host names of the suite; the authority of the ingress's certificate signed all of them. */
export const HOSTS = {
  app: "app.example.com",
  grpc: "grpc.example.com",
  empty: "empty.example.com",
  other: "other.example.com",
} as const;
const UNKNOWN = "unknown.example.com";
const MEGABYTE = 1_000_000;

/** An ingress under test. */
export interface TestedIngress {
  readonly port: number;
  readonly tlsPort: number;
  /** Certificate of the authority that signed the certificates of `HOSTS`. */
  readonly ca: string;
  /** Process that carries the bytes. */
  readonly pid: number;
  /** Sends requests for a host name to these addresses; resolves when the ingress does so. */
  route(host: string, replicas: readonly string[], options?: Partial<HttpOptions>): Promise<void>;
}

export interface SuiteSizes {
  readonly downloadMegabytes: number;
  readonly uploadMegabytes: number;
}

export const SIZES: SuiteSizes = { downloadMegabytes: sized(100, 2_000), uploadMegabytes: 100 };
/** Memory that a download or upload may take of the ingress, however large it is. */
const MOST_GROWTH = 256 << 20;

/** Context of a case; it ends with the case. */
export class IngressBed {
  readonly ingress: TestedIngress;
  readonly sizes: SuiteSizes;
  readonly #cleanups: (() => unknown)[] = [];

  constructor(ingress: TestedIngress, sizes: SuiteSizes) {
    this.ingress = ingress;
    this.sizes = sizes;
  }

  later(...cleanups: readonly (() => unknown)[]): void {
    this.#cleanups.push(...cleanups);
  }

  async replica(listener: RequestListener) {
    const server = createServer(listener);
    await once(server.listen(0, "127.0.0.1"), "listening");
    this.later(() => server.close().closeAllConnections());
    return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  /** A replica to which the first host name leads. */
  async routed(listener: RequestListener, options?: Partial<HttpOptions>) {
    const { server, address } = await this.replica(listener);
    await this.ingress.route(HOSTS.app, [address], options);
    return server;
  }

  /** A connection of HTTP/2 over TLS for the first host name. */
  session2(): ClientHttp2Session {
    const { tlsPort, ca } = this.ingress;
    const session = connect2(tlsPort, HOSTS.app, ca);
    this.later(() => session.destroy());
    return session;
  }

  async close(): Promise<void> {
    for (const clean of this.#cleanups.splice(0).reverse()) await clean();
  }
}

export interface IngressCase {
  readonly name: string;
  /** Only the built-in ingress does it. */
  readonly isOfOursOnly?: boolean;
  run(bed: IngressBed): Promise<void>;
}

const httpCases: readonly IngressCase[] = [
  {
    name: "a host name leads to its service, over HTTP and TLS, in HTTP/1.1 and HTTP/2",
    run: async (bed) => {
      await bed.routed(({ method, url }, response) => response.end(`${method} ${url}`));
      const { port, tlsPort, ca } = bed.ingress;
      expect(await ask({ port, path: "/a?b=c" })).toMatchObject({ status: 200, body: "GET /a?b=c" });
      expect(await ask({ port: tlsPort, ca })).toMatchObject({ status: 200, body: "GET /" });
      expect(await ask2(port, HOSTS.app)).toMatchObject({ status: 200, body: "GET /" });
      expect(await ask2(tlsPort, HOSTS.app, ca)).toMatchObject({ status: 200, body: "GET /" });
    },
  },
  {
    name: "a host name without a ready replica answers 503, and one that nobody has 404",
    run: async (bed) => {
      const { port, tlsPort, ca } = bed.ingress;
      await bed.ingress.route(HOSTS.empty, []);
      for (const place of [{ port }, { port: tlsPort, ca }])
        expect((await ask({ ...place, host: HOSTS.empty })).status).toBe(503);
      expect((await ask({ port, host: UNKNOWN })).status).toBe(404);
    },
  },
  {
    name: "an address as target counts in place of the Host header",
    run: async (bed) => {
      await bed.routed(({ url, headers }, response) => response.end(`${headers.host} ${url}`));
      const { port } = bed.ingress;
      expect(await raw(port, `GET http://${HOSTS.app}/a?b HTTP/1.1\r\nHost: ${UNKNOWN}\r\n`)).toContain(
        `${HOSTS.app} /a?b`,
      );
      expect(await raw(port, `GET http://${HOSTS.app} HTTP/1.1\r\nHost: ${HOSTS.app}\r\n`)).toContain(`${HOSTS.app} /`);
    },
  },
  {
    name: "trailers of an answer",
    run: async (bed) => {
      await bed.routed((_request, response) => {
        response.writeHead(200, { trailer: "x-sum" });
        response.write("answer");
        response.addTrailers({ "x-sum": "42" });
        response.end();
      });
      const { port, tlsPort, ca } = bed.ingress;
      for (const place of [{ port }, { port: tlsPort, ca }]) {
        const { body, trailers } = await ask({ ...place, headers: { te: "trailers" } });
        expect([body, trailers["x-sum"]]).toEqual(["answer", "42"]);
      }
      expect((await ask2(tlsPort, HOSTS.app, ca)).trailers["x-sum"]).toBe("42");
    },
  },
  {
    name: "trailers of a request, except those that the ingress itself decides on",
    isOfOursOnly: true,
    run: async (bed) => {
      await bed.routed(async (request, response) => {
        for await (const _ of request);
        response.end(JSON.stringify(request.trailers));
      });
      const { port, tlsPort, ca } = bed.ingress;
      for (const place of [{ port }, { port: tlsPort, ca }]) {
        const trailers = { "x-digest": "42", "x-forwarded-for": "6.6.6.6" };
        const { body } = await ask({ ...place, method: "POST", body: ["question"], trailers });
        expect(JSON.parse(body)).toEqual({ "x-digest": "42" });
      }
      const session = bed.session2();
      const stream = session.request({ ":method": "POST", ":path": "/" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "x-digest": "43" }));
      stream.end("question");
      expect(JSON.parse(await textOf(stream))).toEqual({ "x-digest": "43" });
    },
  },
  {
    name: "the first piece of an answer while the service still writes",
    run: async (bed) => {
      let finish = () => {};
      await bed.routed((_request, response) => {
        response.write("first");
        finish = () => response.end("last");
      });
      const request = httpRequest({
        ...PLACE,
        port: bed.ingress.port,
        headers: { host: HOSTS.app },
        agent: false,
      }).end();
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      const pieces: string[] = [];
      for await (const piece of answer) {
        pieces.push(String(piece));
        finish();
      }
      expect(pieces).toEqual(["first", "last"]);
    },
  },
  {
    name: "websockets, which stay open while other routes change",
    run: async (bed) => {
      const server = await bed.routed((_request, response) => response.end());
      const sockets = new WebSocketServer({ server });
      sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${data}`)));
      const { port, tlsPort, ca } = bed.ingress;
      const headers = { host: HOSTS.app };
      const clients = [
        new WebSocket(`ws://127.0.0.1:${port}/`, { headers }),
        new WebSocket(`wss://127.0.0.1:${tlsPort}/`, { headers, servername: HOSTS.app, ca } as ClientOptions),
      ];
      for (const client of clients) bed.later(() => client.terminate());
      await Promise.all(clients.map((client) => once(client, "open")));
      const { address } = await bed.replica((_request, response) => response.end("other"));
      for (const round of ["one", "two", "three"]) {
        await bed.ingress.route(HOSTS.other, round === "two" ? [] : [address]);
        for (const client of clients) {
          client.send(round);
          expect(String((await once(client, "message"))[0])).toBe(`echo ${round}`);
        }
      }
    },
  },
  {
    name: "a large download",
    run: async (bed) => {
      const sent = createHash("sha256");
      await bed.routed(
        (_request, response) => void Readable.from(pieces(bed.sizes.downloadMegabytes, sent)).pipe(response),
      );
      const growth = watchGrowth(bed.ingress.pid);
      const request = httpsRequest(secure(bed.ingress, "GET")).end();
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      const got = createHash("sha256");
      let count = 0;
      for await (const piece of answer) {
        got.update(piece);
        if (count++ % 1_000 === 0) growth.look();
      }
      expect(got.digest("hex")).toBe(sent.digest("hex"));
      expect(growth.most(), "more bytes of memory").toBeLessThan(MOST_GROWTH);
    },
  },
  {
    name: "a large chunked upload",
    run: async (bed) => {
      await bed.routed(
        async (request, response) => {
          const got = createHash("sha256");
          for await (const piece of request) got.update(piece);
          response.end(got.digest("hex"));
        },
        { maxBodySize: bed.sizes.uploadMegabytes * MEGABYTE },
      );
      const sent = createHash("sha256");
      const request = httpsRequest(secure(bed.ingress, "POST"));
      Readable.from(pieces(bed.sizes.uploadMegabytes, sent)).pipe(request);
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      expect(await textOf(answer)).toBe(sent.digest("hex"));
    },
  },
];

type GrpcWay = "with TLS" | "without TLS";

function grpcCases(way: GrpcWay): IngressCase[] {
  const client = async (bed: IngressBed): Promise<GrpcClient> => {
    const service = await grpcReplica();
    const { port, tlsPort, ca } = bed.ingress;
    await bed.ingress.route(HOSTS.grpc, [service.address]);
    const place = way === "with TLS" ? { port: tlsPort, ca } : { port };
    const made = grpcClient({ host: HOSTS.grpc, ...place });
    bed.later(service.close, made.close);
    return made;
  };
  return [
    {
      name: `gRPC ${way}: calls get their answers with trailers`,
      run: async (bed) => {
        const { status } = await client(bed);
        let trailer: string | null = "";
        const answer = await status.getStatus(
          {},
          {
            headers: { "x-wish": "told" },
            onTrailer: (trailers) => {
              trailer = trailers.get("x-trailer");
            },
          },
        );
        expect([answer.publicHostnames, trailer]).toEqual([["unary"], "told"]);
      },
    },
    {
      name: `gRPC ${way}: streams go both ways, message by message`,
      run: async (bed) => {
        const { stream } = await client(bed);
        const seen: string[] = [];
        let next = (_text: string | undefined): void => {};
        const asked = async function* () {
          for (let text: string | undefined = "0"; text !== undefined; ) {
            const later = new Promise<string | undefined>((resolve) => {
              next = resolve;
            });
            yield symbol(text);
            text = await later;
          }
        };
        for await (const { validHost } of stream.serverReflectionInfo(asked())) {
          seen.push(validHost);
          next(seen.length < 5 ? String(seen.length) : undefined);
        }
        expect(seen).toEqual(["0", "1", "2", "3", "4"]);
      },
    },
    {
      name: `gRPC ${way}: errors come with their code, without a message and after some`,
      run: async (bed) => {
        const { status, stream } = await client(bed);
        const refused = await status.getStatus({}, { headers: { "x-wish": "error" } }).catch(ConnectError.from);
        expect(refused).toMatchObject({ code: Code.NotFound, rawMessage: "no such thing" });
        const asked = Readable.from([symbol("a"), symbol(REFUSED)]);
        const seen: string[] = [];
        const read = async () => {
          for await (const { validHost } of stream.serverReflectionInfo(asked)) seen.push(validHost);
        };
        expect(await read().catch(ConnectError.from)).toMatchObject({ code: Code.ResourceExhausted });
        expect(seen).toEqual(["a"]);
      },
    },
    {
      name: `gRPC ${way}: an error comes to a client that still sends`,
      isOfOursOnly: true,
      run: async (bed) => {
        const { stream } = await client(bed);
        const asked = async function* () {
          yield symbol(REFUSED);
          await new Promise<void>((resolve) => bed.later(resolve));
        };
        const read = async () => {
          for await (const _ of stream.serverReflectionInfo(asked()));
        };
        expect(await read().catch(ConnectError.from)).toMatchObject({ code: Code.ResourceExhausted });
      },
    },
    {
      name: `gRPC ${way}: a service that has no replica is unavailable`,
      run: async (bed) => {
        const { status } = await client(bed);
        await bed.ingress.route(HOSTS.grpc, []);
        expect(await status.getStatus({}).catch(ConnectError.from)).toMatchObject({ code: Code.Unavailable });
      },
    },
  ];
}

/** Behaviour of every ingress: the built-in one, and a proxy that follows published routes. */
export const ingressCases: readonly IngressCase[] = [
  ...httpCases,
  ...grpcCases("with TLS"),
  ...grpcCases("without TLS"),
];

const PLACE = { host: "127.0.0.1" } as const;

interface Asking {
  readonly port: number;
  readonly ca?: string;
  readonly host?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly string[];
  readonly trailers?: Readonly<Record<string, string>>;
}

interface Asked {
  readonly status: number;
  readonly body: string;
  readonly trailers: NodeJS.Dict<string | string[]>;
}

async function ask({ host = HOSTS.app, ca, headers = {}, body = [], trailers, ...place }: Asking): Promise<Asked> {
  const options = { ...PLACE, ...place, headers: { host, ...headers }, agent: false as const };
  const request = ca === undefined ? httpRequest(options) : httpsRequest({ ...options, ca, servername: host });
  for (const piece of body) request.write(piece);
  if (trailers !== undefined) request.addTrailers(trailers);
  request.end();
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await textOf(answer), trailers: answer.trailers };
}

/** Without TLS with prior knowledge. */
function connect2(port: number, host: string, ca?: string): ClientHttp2Session {
  const createConnection = () =>
    ca === undefined
      ? connect({ ...PLACE, port })
      : tlsConnect({ ...PLACE, port, ca, servername: host, ALPNProtocols: ["h2"] });
  return http2Connect(`${ca === undefined ? "http" : "https"}://${host}`, { createConnection });
}

/** A GET over HTTP/2. */
async function ask2(port: number, host: string, ca?: string): Promise<Asked> {
  const session = connect2(port, host, ca);
  try {
    const stream = session.request({ ":path": "/" });
    let trailers = {};
    stream.once("trailers", (all) => {
      trailers = all;
    });
    const [headers] = await once(stream, "response");
    return { status: headers[":status"], body: await textOf(stream), trailers };
  } finally {
    session.destroy();
  }
}

/** The answer to a request whose headers are these, as it came. */
async function raw(port: number, head: string): Promise<string> {
  const socket = connect({ ...PLACE, port });
  socket.write(`${head}Connection: close\r\n\r\n`);
  return textOf(socket);
}

function secure({ tlsPort, ca }: TestedIngress, method: string) {
  const headers = { host: HOSTS.app, ...(method === "GET" ? {} : { "transfer-encoding": "chunked" }) };
  return { ...PLACE, port: tlsPort, ca, servername: HOSTS.app, method, headers, agent: false as const };
}

async function textOf(source: Readable): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of source) all.push(Buffer.from(piece));
  return Buffer.concat(all).toString();
}

/** So many random megabytes, which the hash sees too. */
function* pieces(megabytes: number, hash: ReturnType<typeof createHash>): Generator<Buffer> {
  const piece = randomBytes(MEGABYTE);
  for (let at = 0; at < megabytes; at++) {
    piece.writeUInt32BE(at);
    hash.update(piece);
    // The reader may hold it.
    yield Buffer.from(piece);
  }
}

/** The most that the memory of a process grows from now on, in bytes. */
function watchGrowth(pid: number) {
  const resident = (): number => {
    const [, kibibytes = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kibibytes) << 10;
  };
  const before = resident();
  let most = 0;
  const look = (): void => {
    most = Math.max(most, resident() - before);
  };
  return { look, most: () => most };
}
