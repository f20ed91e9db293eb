import { defineErrors } from "../util/index.ts";

const OTHER_NODE = "the node lies or is damaged: name another one with --node";

/** Errors of verification. Each refuses what a node said. */
export const lightErrors = defineErrors("light", {
  badBlock: [1, "the block is not valid", OTHER_NODE],
  notEnoughTrust: [2, "too few of the trusted validators signed the block", OTHER_NODE],
  expired: [
    3,
    "the trusted block is too old",
    "if this machine's clock is right, get a new height and hash from people you trust: svc config trust <height> <hash>",
  ],
  wrongRoot: [
    4,
    "the trusted block has another hash",
    "is it the right --node, and the hash of this chain? correct it: svc config trust <height> <hash>",
  ],
  conflict: [
    5,
    "two nodes show different blocks that are both signed",
    "the chain is under attack: use neither node until its operators have explained it",
  ],
  unconfirmed: [6, "no witness confirms the block", "name other witnesses, or none"],
  unprovable: [
    8,
    "the answer cannot be proven",
    "ask for one record and not for a list, or leave out --verify require",
  ],
  otherChain: [
    9,
    "the node belongs to another chain than the trusted block",
    "is it the right --node? for another network choose its --profile, --chain-id or --home; --verify off asks without proof",
  ],
  ahead: [
    10,
    "the block is later than this machine's clock",
    "set the clock; if it is right, the node lies or is damaged: name another one with --node",
  ],
  tooMany: [7, "verification takes too many blocks", "trust a newer block: svc config trust <height> <hash>"],
});
