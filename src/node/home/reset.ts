import { existsSync, rmSync } from "node:fs";
import { cometPaths, signStateText } from "../../engine/index.ts";
import { openLmdb, storeFault } from "../../store/index.ts";
import { nodeErrors } from "../errors.ts";
import { homePaths, writeWhole } from "./home.ts";

const SECRET_MODE = 0o600;

/**
 * Forgets the chain of a home: blocks, state and the record of the last vote. Keys, genesis file and settings stay.
 * Returns the removed directory. Throws while a node runs there.
 */
export function resetHome(home: string): string {
  const { database, validatorKey, validatorState, upgradeInfo } = homePaths(home);
  const engineData = cometPaths(home, homePaths(home)).data;
  if (!existsSync(validatorKey)) throw nodeErrors.noGenesis(`${home} is not the home of a node`);
  if (existsSync(database)) {
    refuseRunning(database);
    rmSync(database, { recursive: true });
  }
  rmSync(engineData, { recursive: true, force: true });
  rmSync(upgradeInfo, { force: true });
  // The record comes last: if this is interrupted, the last vote of the old chain is still known.
  writeWhole(validatorState, signStateText(), SECRET_MODE);
  return database;
}

function refuseRunning(database: string): void {
  try {
    openLmdb(database).close();
  } catch (error) {
    throw storeFault(error, database);
  }
}
