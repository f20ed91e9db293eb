import type { NodeService } from "./bind.ts";
import { nodeService } from "./node.ts";
import { paramsService } from "./params.ts";
import { reflectionService } from "./reflection.ts";
import { tendermintService } from "./tendermint.ts";
import { txService } from "./tx.ts";

export type { NodeService, ServiceContext } from "./bind.ts";

/** The services that the node answers itself, each one line. */
export const NODE_SERVICES: readonly NodeService[] = [
  txService,
  tendermintService,
  nodeService,
  paramsService,
  reflectionService,
];
