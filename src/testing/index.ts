export { type ForgedCertificate, forgeCertificate, newP256Key } from "./certificate.ts";
export {
  type LoggedEvent,
  type SendSettings,
  type SentTx,
  TestChain,
  type TestChainOptions,
  testChain,
} from "./chain.ts";
export { emptyContext } from "./context.ts";
export { type TestKey, testKey } from "./keys.ts";
export {
  actionsOf,
  amount,
  coin,
  type GroupInit,
  groupSpec,
  type Init,
  MIN_DEPOSIT,
  marketEvents,
  orderOf,
  price,
  resourceRow,
  TestMarket,
} from "./marketplace.ts";
export { TestNode, type TestNodeOptions, testNode } from "./node.ts";
export { walkPages } from "./pages.ts";
export { signTx, type TestMessage, type TestSigner, type TxSettings, toAny } from "./signed.ts";
export {
  consensusKey,
  createValidatorMessage,
  genesisValidator,
  operatorAddress,
  type TestValidator,
  wholeShares,
} from "./staking.ts";
