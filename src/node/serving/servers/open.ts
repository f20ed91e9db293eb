import type { ChainSource } from "../../../engine/index.ts";
import { assert, keysOf, type Logger } from "../../../util/index.ts";
import { VERSION_ASKED_MS, VersionWatch } from "../../../util/servers/index.ts";
import { monikerOf, type NodeConfig } from "../../config.ts";
import { Dispatcher, type DispatcherOptions } from "../../dispatch.ts";
import { clientBudget, type Handler, urlHost } from "../../http/index.ts";
import type { NodeInfo } from "../../node-info.ts";
import type { RunMethod } from "../../rpc/calls/method.ts";
import { CommitWaiters } from "../../services/commit-waiters.ts";
import { type Addresses, SERVERS, type ServerAddress, type ServerName } from "./list.ts";
import type { ServerContext, ServerKind } from "./server.ts";

/** Parts of a node's servers. */
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
  readonly addresses: Addresses;
  close(): Promise<void>;
}

/** Opens the enabled servers. A failure closes the ones opened before. */
export async function openServers(parts: ServingParts): Promise<Servers> {
  const opened: { [K in ServerName]?: ServerAddress } = {};
  const { rpc: place } = parts.config;
  const nodeInfo = nodeInfoOf(parts, () => `tcp://${urlHost(place.host)}:${opened.rpc?.port ?? place.port}`);
  const context = contextOf(parts, nodeInfo);
  const asking = askDaily(context.watch);
  const closing: (() => Promise<void>)[] = [async () => context.waiters.close(), async () => clearInterval(asking)];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  try {
    for (const key of keysOf(SERVERS)) {
      const server = await openServer(SERVERS[key], context);
      if (server === undefined) continue;
      closing.push(server.close);
      opened[key] = server.place;
      if (server.handler !== undefined) context.handlers.set(key, server.handler);
    }
    const { rpc, ...others } = opened;
    assert(rpc !== undefined, "a node serves JSON-RPC");
    return { addresses: { rpc, ...others }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function askDaily(watch: VersionWatch | undefined): NodeJS.Timeout | undefined {
  if (watch === undefined) return undefined;
  void watch.ask();
  return setInterval(() => void watch.ask(), VERSION_ASKED_MS).unref();
}

function contextOf(parts: ServingParts, nodeInfo: () => NodeInfo): ServerContext {
  const { chain, home, config, logger, version, appRpcs, desk } = parts;
  const { net } = config;
  const waiters = new CommitWaiters(chain.events);
  const report = (error: unknown): void => logger.child({ module: "services" }).error("a service failed", { error });
  const options = { nodeInfo, report, waiters, appRpcs };
  const dispatcher = desk?.dispatcher(options) ?? new Dispatcher({ chain, ...options });
  const shared = { dispatcher, waiters, budget: clientBudget(config.clients) };
  const handlers = new Map<string, Handler>();
  return {
    chain,
    home,
    config,
    logger,
    nodeInfo,
    handlers,
    ...shared,
    ...(net === undefined ? {} : { watch: new VersionWatch({ net, version, log: logger }) }),
    ...(desk === undefined ? {} : { run: desk.run }),
  };
}

async function openServer({ name, scheme, open }: ServerKind, context: ServerContext) {
  const server = await open(context);
  if (server === undefined) return undefined;
  const { host, port, handler, close } = server;
  const address = `${urlHost(host)}:${port}`;
  context.logger.info(`${name} server listening`, { module: name.toLowerCase(), address: `tcp://${address}` });
  return { close, handler, place: { name, port, address: `${scheme}${address}` } };
}

/** The identity that the node reports. */
export function nodeInfoOf(
  { chain, config, id, version }: Pick<ServingParts, "chain" | "config" | "id" | "version">,
  rpcAddress: () => string,
): () => NodeInfo {
  const moniker = monikerOf(config, chain.genesis, chain.validator);
  const { minGasPrices, haltHeight, pruning } = config;
  const settings = { minGasPrices, haltHeight, pruning };
  const { kind, p2p } = config.engine;
  return () => {
    const rpc = rpcAddress();
    const listenAddress = kind === "cometbft" ? p2p.laddr : rpc;
    return { id, moniker, rpcAddress: rpc, listenAddress, applicationVersion: version, ...settings };
  };
}
