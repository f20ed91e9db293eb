// Loaded by itself, because a signature without a node needs nothing of it.
export { accountInfo } from "../../client/index.ts";
