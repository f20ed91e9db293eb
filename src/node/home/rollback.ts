import { createApp } from "../../app/index.ts";
import {
  BlockStore,
  cometPaths,
  engineRollback,
  executedRemovals,
  fileSignState,
  findProgram,
  rollbackComet,
  type SignStateStore,
} from "../../engine/index.ts";
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
  /** Program of CometBFT, for homes whose blocks it makes; searched for by default. */
  readonly program?: string | undefined;
}

/** Rolls back the last block of a home's node, in one write of its own database. The node must not run. */
export function rollback(home: string, options: RollbackOptions): RolledBack {
  const paths = homePaths(home);
  const database = openLmdb(paths.database);
  try {
    if (new BlockStore(database).isOutside) return rollbackBoth(database, { ...options, home });
    return rollbackIn(database, { ...options, signed: fileSignState(paths.validatorState) });
  } catch (error) {
    throw storeFault(error, paths.database);
  } finally {
    database.close();
  }
}

/**
 * CometBFT rolls back first, because it can continue with an application that is one block ahead; the application follows to the
 * same height. A rollback that was interrupted in between is completed by the next one.
 */
function rollbackBoth(
  database: Database,
  { home, hard, program: given }: RollbackOptions & { readonly home: string },
): RolledBack {
  if (hard)
    throw nodeErrors.cannotRollBack("CometBFT keeps the block: its validator must not vote on it again", {
      hint: "leave out --hard: the next start executes the block again",
    });
  const open = () => createApp({ database, upgrade: true, pruning: PRUNING_STRATEGIES.nothing }).state;
  let state = open();
  const { path } = findProgram({ given, home, path: process.env.PATH ?? "" });
  const height = rollbackComet(path, cometPaths(home, homePaths(home)).root);
  for (; state.height > height; state = open()) state.rollback(executedRemovals(database, state.height));
  return { height: state.height, appHash: state.appHash };
}

/** The same in the database of a chain of the embedded engine. */
export function rollbackIn(
  database: Database,
  { hard, signed }: RollbackOptions & { readonly signed: Pick<SignStateStore, "load"> },
): RolledBack {
  const blocks = new BlockStore(database);
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
