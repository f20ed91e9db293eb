export { UpgradeNeeded } from "../app/index.ts";
export type { CometKeys } from "../engine/index.ts";
export { type NodeConfig, nodeConfig, readNodeConfig } from "./config.ts";
export { ConsolePages, chainInfo, consoleFiles } from "./console/index.ts";
export { Dispatcher, type DispatcherOptions } from "./dispatch.ts";
export type { NodeEnd, NodeOptions } from "./engines/engines.ts";
export { exportGenesis } from "./home/export.ts";
export {
  addGenesisAccounts,
  addGenesisValidator,
  defaultAppState,
  type GenesisAccount,
  type GenesisValidator,
  type GenesisVesting,
  genesisFile,
  readGenesisText,
  validateGenesis,
} from "./home/genesis.ts";
export { checkGenesisTx, collectGenesisTxs, gentxDirectory, tryGenesis } from "./home/gentx.ts";
export { type HomePaths, homePaths } from "./home/home.ts";
export { homeNodeId, homeValidatorKey } from "./home/identity.ts";
export { type InitOptions, type InitSummary, initHome } from "./home/init.ts";
export { resetHome } from "./home/reset.ts";
export { type RollbackOptions, type RolledBack, rollback } from "./home/rollback.ts";
export { Node, startNode } from "./node.ts";
export { BLOCK_PROTOCOL, ENGINE_VERSION, type NodeInfo, P2P_PROTOCOL } from "./node-info.ts";
export { RpcServer, type RpcServerOptions } from "./rpc/index.ts";
export { remoteConsole } from "./serving/remote.ts";
export { NODE_SETTINGS } from "./settings.ts";
export {
  deleteSnapshot,
  dumpSnapshot,
  exportSnapshot,
  listSnapshots,
  loadSnapshot,
  type RestoredChain,
  type RestoreOptions,
  restoreSnapshot,
} from "./snapshots/snapshots.ts";
