export { type SendSettings, TestChain, type TestChainOptions, testChain } from "./chain.ts";
export { type TestKey, testKey } from "./keys.ts";
export { TestNode, type TestNodeOptions, testNode } from "./node.ts";
export type { LoggedEvent, SentTx } from "./sent.ts";
export { signTx, type TestMessage, type TestSigner, type TxSettings, toAny } from "./signed.ts";
