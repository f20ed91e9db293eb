import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo, LookupFunction } from "node:net";
import { create } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
} from "../../../src/wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ProviderRPC } from "../../../src/wire/gen/svc/provider/v1/status_pb.js";

/** A small service of gRPC, as a tenant's container would offer it: over HTTP/2 without TLS. */
export interface GrpcReplica {
  readonly address: string;
  close(): void;
}

/** Symbols for which the service ends a stream of calls with an error. */
export const REFUSED = "refused";

export async function grpcReplica(): Promise<GrpcReplica> {
  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(ServerReflection, { serverReflectionInfo: echo });
      router.service(ProviderRPC, {
        getStatus: (_request, { requestHeader, responseTrailer }) => {
          if (requestHeader.get("x-wish") === "error") throw new ConnectError("no such thing", Code.NotFound);
          responseTrailer.set("x-trailer", requestHeader.get("x-wish") ?? "");
          return { publicHostnames: ["unary"] };
        },
      });
    },
  });
  const server = createServer(handler);
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

/** Answers each message at once with its own text. */
async function* echo(requests: AsyncIterable<ServerReflectionRequest>) {
  for await (const { messageRequest } of requests) {
    const text = messageRequest.case === "fileContainingSymbol" ? messageRequest.value : "";
    if (text === REFUSED) throw new ConnectError("that is enough", Code.ResourceExhausted);
    yield { validHost: text };
  }
}

export interface GrpcDoor {
  readonly host: string;
  readonly port: number;
  /** Certificate of the authority, with TLS. */
  readonly ca?: string;
}

export interface GrpcClient {
  readonly status: Client<typeof ProviderRPC>;
  readonly stream: Client<typeof ServerReflection>;
  close(): void;
}

/** A client that finds all names on this machine. */
export function grpcClient({ host, port, ca }: GrpcDoor): GrpcClient {
  const lookup: LookupFunction = (_host, { all }, done) =>
    all === true ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  const baseUrl = `${ca === undefined ? "http" : "https"}://${host}:${port}`;
  const nodeOptions = { lookup, ...(ca === undefined ? {} : { ca, servername: host }) };
  const sessionManager = new Http2SessionManager(baseUrl, {}, nodeOptions);
  const transport = createGrpcTransport({ baseUrl, nodeOptions, sessionManager });
  return {
    status: createClient(ProviderRPC, transport),
    stream: createClient(ServerReflection, transport),
    close: () => sessionManager.abort(),
  };
}

export function symbol(value: string): ServerReflectionRequest {
  return create(ServerReflectionRequestSchema, { messageRequest: { case: "fileContainingSymbol", value } });
}
