export { type NodeConfig, nodeConfig, parseInterval } from "./config.ts";
export { exportGenesis } from "./export.ts";
export {
  addGenesisAccounts,
  defaultAppState,
  type GenesisAccount,
  readGenesisText,
  validateGenesis,
} from "./genesis.ts";
export { type HomePaths, homePaths } from "./home.ts";
export { type InitOptions, type InitSummary, initHome } from "./init.ts";
export { Node, type NodeEnd, type NodeOptions, startNode } from "./node.ts";
export { type GivenOptions, NODE_OPTIONS, type NodeOption, type NodeOptionName, optionVariable } from "./options.ts";
export { DEFAULT_RPC_OPTIONS, ENGINE_VERSION, RpcServer, type RpcServerOptions } from "./rpc/index.ts";
