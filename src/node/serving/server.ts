import type { ChainSource } from "../../engine/index.ts";
import type { Logger } from "../../util/index.ts";
import type { NodeConfig } from "../config.ts";
import type { Dispatcher } from "../dispatch.ts";
import type { ClientBudget } from "../http/index.ts";
import type { CommitWaiters } from "../services/commit-waiters.ts";

/** What a server of a node works with. */
export interface ServerContext {
  readonly chain: ChainSource;
  readonly dispatcher: Dispatcher;
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** What all servers share. */
  readonly budget: ClientBudget;
  readonly waiters: CommitWaiters;
}

/** A server that listens. */
export interface OpenServer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}
