import { defineErrors, errorText } from "../util/index.ts";

/**
 * The database of this machine could not be read. Other machines can read theirs, so it is never the result of a
 * transaction or of an item of a block: the node stops.
 */
export class DatabaseFault extends Error {
  constructor(cause: unknown) {
    super(errorText(cause), { cause });
    this.name = "DatabaseFault";
  }
}

/** Errors of a node's own storage. They occur at start and never in a transaction's result. */
export const storeErrors = defineErrors("store", {
  inUse: [2, "the database is in use", "stop the other process, or choose another --home"],
  stateMismatch: [
    3,
    "state does not match the last header",
    "the data directory is damaged: restore it from a backup or a snapshot, or reset it and sync again",
  ],
  unknownStore: [
    4,
    "the data directory holds a store that this version does not know",
    "start the version that wrote it",
  ],
  badMeta: [5, "the record of the last commit cannot be read", "start the version that wrote it, or restore a backup"],
  damaged: [6, "the database is damaged", "restore the whole data directory from one backup"],
  cannotOpen: [7, "the database cannot be opened", "see that the disk has room and that you may write there"],
  otherFormat: [
    8,
    "the state has the form of another version of svc",
    "start the version of svc that wrote it, or continue from what its svc export prints (docs/guides/node.md)",
  ],
  notKept: [9, "this height is not kept", "restore a backup; --pruning says how many heights a node keeps"],
  restoreBroken: [
    10,
    "an earlier restore of a snapshot did not finish",
    "run svc snapshots restore again, or svc unsafe-reset-all to remove the data",
  ],
  badSnapshot: [11, "the snapshot cannot be restored", "get it again, or another one, from a node that you trust"],
  notEmpty: [12, "the home already has a state", "svc unsafe-reset-all removes it; keys and genesis file stay"],
  noSnapshot: [13, "the snapshot does not exist", "svc snapshots list shows those of this home"],
  snapshotExists: [14, "the snapshot already exists", "svc snapshots delete removes it"],
});
