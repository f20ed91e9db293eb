import { createApp } from "../../app/index.ts";
import { BlockStore, engineRollback, fileSignState, type SignStateStore } from "../../engine/index.ts";
import { type Database, openLmdb, PRUNING_STRATEGIES, storeFault } from "../../store/index.ts";
import { nodeErrors } from "../errors.ts";
import { homePaths } from "./home.ts";

/** The state that a rollback leaves. */
export interface RolledBack {
  readonly height: bigint;
  readonly appHash: Uint8Array;
}

export interface RollbackOptions {
  /** The block goes as well; otherwise it is executed again at the next start. */
  readonly hard: boolean;
}

/** Rolls back the last block of a home's node, in one write. The node must not run. */
export function rollback(home: string, options: RollbackOptions): RolledBack {
  const paths = homePaths(home);
  const database = openLmdb(paths.database);
  try {
    return rollbackIn(database, { ...options, signed: fileSignState(paths.validatorState) });
  } catch (error) {
    throw storeFault(error, paths.database);
  } finally {
    database.close();
  }
}

/** The same in an open database. */
export function rollbackIn(
  database: Database,
  { hard, signed }: RollbackOptions & { readonly signed: Pick<SignStateStore, "load"> },
): RolledBack {
  const blocks = new BlockStore(database);
  if (blocks.isOutside) throw nodeErrors.embeddedOnly("CometBFT made the blocks of this home");
  const { height, isPending, writes } = engineRollback(database, hard);
  if (blocks.last === undefined) throw nodeErrors.cannotRollBack("the chain has no block yet");
  const { state } = createApp({ database, upgrade: true, pruning: PRUNING_STRATEGIES.nothing });
  if (isPending) {
    if (writes.length > 0) database.write(writes);
    return { height, appHash: state.appHash };
  }
  if (blocks.base === height) throw nodeErrors.cannotRollBack(`block ${height} is the first one that the home has`);
  const voted = signed.load()?.height ?? 0n;
  if (voted > height)
    throw nodeErrors.cannotRollBack(`the validator has already voted on block ${voted} and must not vote on it again`);
  return state.rollback(writes);
}
