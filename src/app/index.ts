export { createApp, moduleSet, standardModules } from "./app.ts";
export { type ApplicationOptions, type ExportedState, type RestartState, SvcApplication } from "./application.ts";
export { genesisProblems, RefusedGenesisTx } from "./genesis.ts";
export { CONSENSUS, holdsLastBlock, withoutRecords } from "./lastblock.ts";
export { type BaseKeepers, type ModuleSet, storeNames } from "./module-set.ts";
export { AppReader, type PendingState, type QueryWork, readTables } from "./queries/reader.ts";
export type { SimulationTurn } from "./queries/simulate.ts";
export { restoredBlock, snapshotTables, UNHASHED_TABLES } from "./snapshots/connection.ts";
export { UpgradeNeeded } from "./upgrades/upgrades.ts";
