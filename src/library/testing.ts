/** `svc/testing`: chains for the tests of applications, in memory or as a node in this process. Node.js only. */
export {
  type LoggedEvent,
  type SendSettings,
  type SentTx,
  signTx,
  TestChain,
  type TestChainOptions,
  type TestKey,
  type TestMessage,
  TestNode,
  type TestNodeOptions,
  type TestSigner,
  type TxSettings,
  testChain,
  testKey,
  testNode,
  toAny,
} from "../testing/index.ts";
