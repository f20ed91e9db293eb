/** The light client over the RPC of nodes. */
export { provenNode, provenQueries, type QueryNode, type VerifyOptions } from "./queries.ts";
export { rpcSource, type WholeBlock, wholeBlocks } from "./source.ts";
