/** The light client over the RPC of nodes. */
export { isUnproven, provenNode, provenQueries, type QueryNode, type VerifyOptions } from "./queries.ts";
export { rpcSource } from "./source.ts";
