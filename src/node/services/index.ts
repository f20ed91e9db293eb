import type { NodeService } from "./bind.ts";
import { tendermintService } from "./tendermint.ts";
import { txService } from "./tx.ts";

export type { NodeService, ServiceContext } from "./bind.ts";

/** The services that the node answers itself, each one line. */
export const NODE_SERVICES: readonly NodeService[] = [txService, tendermintService];
