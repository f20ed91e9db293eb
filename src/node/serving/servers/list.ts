import type { NodeConfig } from "../../config.ts";
import { openGrpc } from "./grpc.ts";
import { openMetrics } from "./metrics.ts";
import { openRest } from "./rest.ts";
import { openRpc } from "./rpc.ts";
import type { ServerKind } from "./server.ts";

/** The servers of a node in the order in which they open, each under the name of its settings in `NodeConfig`. */
export const SERVERS = {
  rpc: { name: "RPC", scheme: "http://", open: openRpc },
  rest: { name: "REST", scheme: "http://", open: openRest },
  grpc: { name: "gRPC", scheme: "", open: openGrpc },
  metrics: { name: "metrics", scheme: "http://", open: openMetrics },
} as const satisfies { readonly [K in keyof NodeConfig]?: ServerKind };

export type ServerName = keyof typeof SERVERS;

/** Where a server listens. */
export interface ServerAddress {
  /** Name of the server, for people. */
  readonly name: string;
  /** In the form that clients take: a URL, or `host:port`. */
  readonly address: string;
  readonly port: number;
}

/** Where the servers listen that are switched on; JSON-RPC always is. */
export type Addresses = { readonly rpc: ServerAddress } & { readonly [K in ServerName]?: ServerAddress };
