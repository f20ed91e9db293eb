/** The light client over the RPC of nodes. */
export { rpcSource } from "./source.ts";
