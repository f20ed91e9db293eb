import type { AppQuery } from "../../abci/index.ts";
import type { ChainSource } from "../../engine/index.ts";
import { equalBytes, type Logger } from "../../util/index.ts";
import type { NodeConfig } from "../config.ts";
import { Dispatcher, type DispatcherOptions } from "../dispatch.ts";
import { genesisFile } from "../home/genesis.ts";
import { clientBudget, urlHost } from "../http/index.ts";
import type { NodeInfo } from "../node-info.ts";
import type { RunMethod } from "../rpc/calls/method.ts";
import { RpcServer } from "../rpc/index.ts";
import { CommitWaiters } from "../services/commit-waiters.ts";
import { openGrpc } from "./grpc.ts";
import { openRest } from "./rest.ts";
import type { OpenServer, ServerContext } from "./server.ts";

/** What the servers of a node work with. */
export interface ServingParts {
  readonly chain: ChainSource;
  readonly home: string;
  readonly config: NodeConfig;
  readonly logger: Logger;
  readonly version: string;
  /** Hex of the node key's address. */
  readonly id: string;
  /** Paths of the rpcs that the application answers. */
  readonly appRpcs: readonly string[];
  /** Divides requests between threads; without it all are answered by the chain. */
  readonly desk?: ServingDesk;
}

/** Overrides how requests are answered. */
export interface ServingDesk {
  dispatcher(options: Omit<DispatcherOptions, "chain">): Dispatcher;
  readonly run: RunMethod;
}

/** The open servers of a node. */
export interface Servers {
  /** As `http://host:port`. */
  readonly rpcUrl: string;
  /** Undefined where REST is not served. */
  readonly restUrl: string | undefined;
  /** As `host:port`, the form that clients of gRPC take; undefined where it is not served. */
  readonly grpcAddress: string | undefined;
  close(): Promise<void>;
}

/** Opens the servers that are switched on. A failure closes those that were opened before. */
export async function openServers(parts: ServingParts): Promise<Servers> {
  const { chain, config, logger } = parts;
  const waiters = new CommitWaiters(chain.events);
  const closing: (() => Promise<void>)[] = [async () => waiters.close()];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  const open = async (name: string, server: Promise<OpenServer> | undefined): Promise<string | undefined> => {
    if (server === undefined) return undefined;
    const { host, port, close: closeOne } = await server;
    closing.push(closeOne);
    const address = `${urlHost(host)}:${port}`;
    logger.info(`${name} server listening`, { module: name.toLowerCase(), address: `tcp://${address}` });
    return address;
  };
  let rpcAddress = `${urlHost(config.rpc.host)}:${config.rpc.port}`;
  const nodeInfo = nodeInfoOf(parts, () => `tcp://${rpcAddress}`);
  const report = (error: unknown): void => logger.child({ module: "services" }).error("a service failed", { error });
  const options = { nodeInfo, report, waiters, appRpcs: parts.appRpcs };
  const dispatcher = parts.desk?.dispatcher(options) ?? new Dispatcher({ chain, ...options });
  const context: ServerContext = { chain, dispatcher, config, logger, budget: clientBudget(), waiters };
  try {
    rpcAddress = (await open("RPC", openRpc(context, nodeInfo, parts))) ?? rpcAddress;
    const rest = await open("REST", openRest(context));
    const grpcAddress = await open("gRPC", openGrpc(context));
    return {
      grpcAddress,
      rpcUrl: `http://${rpcAddress}`,
      restUrl: rest === undefined ? undefined : `http://${rest}`,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The identity that the node reports. */
export function nodeInfoOf(
  { chain, config, id, version }: Pick<ServingParts, "chain" | "config" | "id" | "version">,
  rpcAddress: () => string,
): () => NodeInfo {
  const named = chain.genesis.validators.find(({ pubKey }) => equalBytes(pubKey, chain.validator.publicKey))?.name;
  const moniker = config.moniker ?? (named === undefined || named === "" ? "node" : named);
  const { minGasPrices, haltHeight, pruning } = config;
  const settings = { minGasPrices, haltHeight, pruning };
  return () => ({ id, moniker, rpcAddress: rpcAddress(), applicationVersion: version, ...settings });
}

async function openRpc(context: ServerContext, nodeInfo: () => NodeInfo, parts: ServingParts): Promise<OpenServer> {
  const { chain, waiters, dispatcher, config, budget } = context;
  const env = {
    chain,
    waiters,
    nodeInfo,
    genesis: genesisFile(parts.home),
    query: (query: AppQuery) => dispatcher.query(query),
    ...(parts.desk === undefined ? {} : { run: parts.desk.run }),
  };
  const server = new RpcServer(env, config.rpc, budget);
  return { ...(await server.listen()), close: () => server.close() };
}
