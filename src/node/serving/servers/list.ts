import type { AppQuery } from "../../../abci/index.ts";
import type { NodeConfig } from "../../config.ts";
import { ConsolePages, chainInfo, consoleFiles, nodeSession } from "../../console/index.ts";
import { genesisFile } from "../../home/genesis.ts";
import { RpcServer } from "../../rpc/index.ts";
import type { OpenServer, ServerContext, ServerKind } from "./server.ts";

/** The servers of a node in the order in which they open, each under the name of its settings in `NodeConfig`. */
export const SERVERS = {
  rpc: { name: "RPC", scheme: "http://", open: openRpc },
  rest: {
    name: "REST",
    scheme: "http://",
    open: (context) => context.config.rest && openRest(context, context.config.rest),
  },
  grpc: { name: "gRPC", scheme: "", open: (context) => context.config.grpc && openGrpc(context, context.config.grpc) },
  metrics: {
    name: "metrics",
    scheme: "http://",
    open: (context) => context.config.metrics && openMetrics(context, context.config.metrics),
  },
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

/** Settings of a server that is switched on. */
type Settings<Name extends keyof NodeConfig> = NonNullable<NodeConfig[Name]>;

/** JSON-RPC, which every node serves. */
async function openRpc(context: ServerContext): Promise<OpenServer> {
  const { chain, waiters, nodeInfo, dispatcher, config, budget, run } = context;
  const env = {
    chain,
    waiters,
    nodeInfo,
    genesis: genesisFile(context.home),
    query: (query: AppQuery) => dispatcher.query(query),
    ...(run === undefined ? {} : { run }),
  };
  const server = new RpcServer(env, config.rpc, budget);
  return { ...(await server.listen()), handler: server.handler, close: () => server.close() };
}

/** REST, whose code is loaded where it is switched on. */
async function openRest(context: ServerContext, options: Settings<"rest">): Promise<OpenServer> {
  const { chain, dispatcher, logger, budget, handlers } = context;
  const { RestServer } = await import("../../rest/index.ts");
  const { chainId } = chain.genesis;
  const parts = { dispatcher, budget, logger: logger.child({ module: "rest" }), chainId };
  const { moniker, minGasPrices } = context.nodeInfo();
  const info = (api: string) => chainInfo({ chainId, rpc: `${api}/rpc`, rest: `${api}/rest`, minGasPrices });
  const session = () => nodeSession(chainId, moniker);
  const pages = options.console ? new ConsolePages({ files: consoleFiles(), session, chainInfo: info }) : undefined;
  const console = pages && { pages, others: () => ({ rpc: handlers.get("rpc"), grpc: handlers.get("grpc") }) };
  const server = new RestServer({ ...parts, ...(console && { console }) }, options);
  return { ...(await server.listen()), close: () => server.close() };
}

/** gRPC, whose code is loaded where it is switched on. */
async function openGrpc(context: ServerContext, options: Settings<"grpc">): Promise<OpenServer> {
  const { chain, dispatcher, logger, budget } = context;
  const { GrpcServer } = await import("../../grpc/index.ts");
  const server = new GrpcServer({ chain, dispatcher, budget, logger: logger.child({ module: "grpc" }) }, options);
  return { ...(await server.listen()), handler: server.handler, close: () => server.close() };
}

/** Metrics, whose code is loaded where they are switched on. */
async function openMetrics({ chain, logger, watch }: ServerContext, options: Settings<"metrics">): Promise<OpenServer> {
  const { MetricsServer } = await import("../../metrics/index.ts");
  const server = new MetricsServer({ chain, watch }, options, logger.child({ module: "metrics" }));
  return { ...(await server.listen()), close: () => server.close() };
}
