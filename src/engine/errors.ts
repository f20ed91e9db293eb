import { defineErrors } from "../util/index.ts";

/** Errors of the engine that runs beside the node. */
export const engineErrors = defineErrors("engine", {
  noProgram: [
    8,
    "svc runs CometBFT 0.38.22 or a later release of its 0.38 line",
    "run svc engine install, or name a program with --cometbft",
  ],
  noGo: [
    9,
    "building CometBFT needs Go 1.22.11 or newer",
    "install Go from https://go.dev/dl or the package golang-go, or name it with --go",
  ],
  away: [11, "CometBFT does not answer", "try again: the node starts it again when it ends"],
  failed: [
    12,
    "CometBFT cannot go on with this home",
    "restore the whole home from one backup, or start a new chain in another --home",
  ],
  notJoined: [
    22,
    "the node could not join by a snapshot",
    "nothing of it stays: start the node again, with other servers in --state-sync.rpc-servers where one does not answer",
  ],
  otherEngine: [
    13,
    "the chain of this home was begun with the other engine",
    "start it with the engine that it began with",
  ],
  otherGenesis: [
    5,
    "the genesis file is not the one that this chain started with",
    "restore the genesis file, or start a new chain in another --home",
  ],
  longPath: [14, "the path of a socket is too long", "use a --home with a shorter path"],
  ownKey: [
    16,
    "svc start sets this key of CometBFT itself",
    "leave it out of [cometbft]; svc start --help lists its flags",
  ],
  silent: [
    19,
    "CometBFT without its log cannot say why it ends",
    'write log_level = "error", or another level than none, into [cometbft]',
  ],
  diskFull: [20, "free space on the disk, and start the node again", "nothing that was committed is lost"],
  neverStarted: [21, "CometBFT does not start", "mend what it says, and start the node again"],
  refused: [15, "CometBFT refuses the request"],
  otherBlock: [
    17,
    "a block does not follow the state of this home",
    "if its node runs another version, run svc rollback and start that one here; a chain of several validators needs --engine cometbft",
  ],
  severalValidators: [
    18,
    "the chain has several validators",
    "join it with --engine cometbft: a node follows chains of one validator alone",
  ],
  notBuilt: [10, "CometBFT could not be built", "read Go's messages above; the build needs the Go module proxy"],
});
