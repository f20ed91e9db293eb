export { type ForgedCertificate, forgeCertificate, newP256Key } from "./certificate.ts";
export { emptyContext } from "./context.ts";
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
export { walkPages } from "./pages.ts";
export {
  consensusKey,
  createValidatorMessage,
  genesisValidator,
  operatorAddress,
  type TestValidator,
  wholeShares,
} from "./staking.ts";
