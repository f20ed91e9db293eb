import type { FlagSpec } from "../../command/flag-spec.ts";
import { OUTPUT_FLAG, PAGE_FLAGS, QUERY_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";

const JSON_OUTPUT: FlagSpec = { ...OUTPUT_FLAG, default: "json" };
/** Blocks and transactions do not depend on a state height, but every query takes the flag. */
const NODE_AND_TEXT: readonly FlagSpec[] = QUERY_FLAGS.map((flag) =>
  flag.name === "height" ? { ...flag, hidden: true } : flag,
);
const NODE_AND_JSON: readonly FlagSpec[] = NODE_AND_TEXT.map((flag) => (flag.name === "output" ? JSON_OUTPUT : flag));

const ORDER_BY: FlagSpec = {
  name: "order-by",
  alias: "order_by",
  value: "<order>",
  summary: "order of heights",
  choices: ["asc", "desc"],
  default: "asc",
};
const TX: CommandSpec = {
  name: "tx",
  args: "<hash>",
  summary: "Show a committed transaction",
  flags: [
    {
      name: "type",
      value: "<kind>",
      summary: "what <hash> is: hash, acc_seq for <address>/<sequence>, or signature",
      choices: ["hash", "acc_seq", "signature"],
      default: "hash",
    },
    ...NODE_AND_TEXT,
  ],
  example: "svc query tx $TXHASH -o json\nsvc query tx --type acc_seq $ADDRESS/7",
  load: async () => (await import("./txs.ts")).queryTxCommand,
};

const WAIT_TX: CommandSpec = {
  name: "wait-tx",
  aliases: ["event-query-tx-for"],
  args: "<hash>",
  summary: "Wait until a transaction is in a block, and show its result",
  flags: [{ name: "timeout", value: "<duration>", summary: "maximum time to wait", default: "15s" }, ...NODE_AND_TEXT],
  example: "svc query wait-tx $TXHASH --timeout 60s",
  load: async () => (await import("./txs.ts")).queryWaitTx,
};

const TXS: CommandSpec = {
  name: "txs",
  summary: "Find committed transactions by their events",
  flags: [
    { name: "events", value: "<events>", summary: "type.attribute=value, several joined by &" },
    { name: "query", value: "<query>", summary: "the same in the engine's query language, for example tx.height>5" },
    ORDER_BY,
    ...PAGE_FLAGS.filter(({ name }) => name === "page" || name === "limit"),
    ...NODE_AND_TEXT,
  ],
  example: 'svc query txs --events "message.action=send&transfer.recipient=$ADDRESS" --limit 10',
  load: async () => (await import("./txs.ts")).queryTxsCommand,
};

const BLOCK: CommandSpec = {
  name: "block",
  args: "[height]",
  summary: "Show a block (default: the latest)",
  flags: [
    {
      name: "type",
      value: "<kind>",
      summary: "what [height] is: height, or the hash of the block",
      choices: ["height", "hash"],
      default: "height",
    },
    ...NODE_AND_JSON,
  ],
  example: "svc query block 100\nsvc query block --type hash $BLOCKHASH",
  load: async () => (await import("./blocks.ts")).queryBlock,
};

const BLOCK_RESULTS: CommandSpec = {
  name: "block-results",
  args: "[height]",
  summary: "Show the results of the transactions of a block, and its events (default: the latest)",
  flags: NODE_AND_JSON,
  example: "svc query block-results 100",
  load: async () => (await import("./blocks.ts")).queryBlockResults,
};

const BLOCKS: CommandSpec = {
  name: "blocks",
  args: "[from] [to]",
  summary: "Show the headers of a range of blocks, by default the last twenty; with --query whole blocks",
  flags: [
    { name: "query", value: "<query>", summary: "blocks by their events, for example block.height>5" },
    ORDER_BY,
    { name: "page", value: "<n>", summary: "page number of --query", default: "1" },
    {
      name: "limit",
      alias: "page-limit",
      value: "<n>",
      summary: "maximum blocks to return with --query",
      default: "20",
    },
    ...NODE_AND_JSON,
  ],
  example: "svc query blocks 100 120\nsvc query blocks --query 'block.height>100' --limit 5",
  load: async () => (await import("./blocks.ts")).queryBlocks,
};

const VALIDATOR_SET: CommandSpec = {
  name: "comet-validator-set",
  aliases: ["tendermint-validator-set"],
  args: "[height]",
  summary: "Show the validators of a block (default: the latest)",
  flags: [
    { name: "page", value: "<n>", summary: "page number", default: "1" },
    { name: "limit", alias: "page-limit", value: "<n>", summary: "maximum validators to return", default: "100" },
    ...NODE_AND_TEXT,
  ],
  example: "svc query comet-validator-set 100",
  load: async () => (await import("./blocks.ts")).queryValidatorSet,
};

/** Queries for blocks and transactions. */
export const CHAIN_QUERIES: readonly CommandSpec[] = [TX, WAIT_TX, TXS, BLOCK, BLOCK_RESULTS, BLOCKS, VALIDATOR_SET];
