import type { ChainSource } from "../../../engine/index.ts";
import type { Logger } from "../../../util/index.ts";
import type { VersionWatch } from "../../../util/servers/index.ts";
import type { NodeConfig } from "../../config.ts";
import type { Dispatcher } from "../../dispatch.ts";
import type { ClientBudget, Handler } from "../../http/index.ts";
import type { NodeInfo } from "../../node-info.ts";
import type { RunMethod } from "../../rpc/calls/method.ts";
import type { CommitWaiters } from "../../services/commit-waiters.ts";

/** Context of a node's server. */
export interface ServerContext {
  readonly chain: ChainSource;
  readonly home: string;
  readonly dispatcher: Dispatcher;
  readonly config: NodeConfig;
  readonly logger: Logger;
  readonly nodeInfo: () => NodeInfo;
  /** Budget that all servers share. */
  readonly budget: ClientBudget;
  readonly waiters: CommitWaiters;
  /** Asks for newer versions, where the operator has named a network. */
  readonly watch?: VersionWatch;
  /** Divides calls of JSON-RPC between threads. */
  readonly run?: RunMethod;
  /** The servers that are open, for the one that serves their interfaces beside its own. */
  readonly handlers: Map<string, Handler>;
}

/** A server that listens. */
export interface OpenServer {
  readonly host: string;
  readonly port: number;
  readonly handler?: Handler;
  close(): Promise<void>;
}

/** A server that a node can have. */
export interface ServerKind {
  /** For the log and the line of a node that is ready. */
  readonly name: string;
  /** Prefix of `host:port` in its address. */
  readonly scheme: "http://" | "";
  /** Undefined where it is switched off. */
  open(context: ServerContext): Promise<OpenServer> | undefined;
}
