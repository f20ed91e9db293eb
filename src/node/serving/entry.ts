import type { MessagePort } from "node:worker_threads";
import type { ChainSource, Genesis } from "../../engine/index.ts";
import type { LogFields } from "../../util/index.ts";
import type { NodeConfig } from "../config.ts";
import type { ErrorShape } from "./link/link.ts";
import type { Addresses } from "./servers/index.ts";

/** The word by which the built program knows that it is to run as a thread. */
export const THREAD_WORD = "serving-thread";

/** Start data of a node's thread. */
export interface ThreadData {
  readonly role: "serving" | "slow";
  readonly home: string;
  readonly config: NodeConfig;
  /** The genesis without the state, which stays in its file. */
  readonly genesis: Genesis;
  readonly validator: ChainSource["validator"];
  /** Hex of the node key's address. */
  readonly id: string;
  readonly version: string;
  /** The port to the thread that makes the blocks. */
  readonly link: MessagePort;
}

/** The file that a thread begins with; undefined if the program runs from its sources, which threads cannot run. */
export function threadFile(from: string = import.meta.url): URL | undefined {
  const name = from.slice(from.lastIndexOf("/") + 1);
  if (name === "svc.cjs") return new URL(from);
  return name === "entry.js" ? new URL("./thread.js", from) : undefined;
}

/** Messages to the serving thread besides the link's. */
export type ToServing = "listen" | "close";

/** The messages of the serving thread to the thread that started it. */
export type FromServing =
  | "ready"
  | { readonly listening: Addresses }
  /** It cannot listen. */
  | { readonly refused: ErrorShape }
  /** A further thread wants a link. */
  | { readonly link: MessagePort }
  /** For the log of the node. */
  | { readonly log: LogLine };

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}
