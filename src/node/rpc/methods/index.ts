import type { RpcMethod } from "../calls/method.ts";
import { blockMethods } from "./blocks.ts";
import { consensusMethods } from "./consensus.ts";
import { evidenceMethods } from "./evidence.ts";
import { infoMethods } from "./info.ts";
import { txMethods } from "./txs.ts";

/** All methods by name, except those of subscriptions, which need a websocket. */
export const RPC_METHODS: ReadonlyMap<string, RpcMethod> = new Map(
  Object.entries({ ...infoMethods, ...consensusMethods, ...blockMethods, ...txMethods, ...evidenceMethods }),
);
