/**
 * `svc/market`: the marketplace of a chain for applications. One reader of its records, and what a tenant does with a
 * deployment. In Node.js and in browsers.
 */
export {
  type BidRecord,
  type CertificateRecord,
  type ChainQuery,
  type DeploymentRecord,
  type DepositTerms,
  type EscrowRecord,
  type GroupRecord,
  type LeaseRecord,
  type MarketFilter,
  type MarketParams,
  type MarketReader,
  marketReader,
  type OrderPage,
  type OrderRecord,
  type PaidLease,
  type PaymentRecord,
  type ProviderRecord,
  webGateway,
} from "../client/index.ts";
export {
  type CloseResult,
  type CommittedMessages,
  closeAndSettle,
  type DeploymentLine,
  type Journal,
  type JournalEntry,
  type LiveMarketOptions,
  listDeployments,
  liveMarket,
  type Market,
  type MarketTxOptions,
  memoryJournal,
  type PsParts,
  pickDeployment,
  runUpdate,
  topUp,
  type UpdateRequest,
} from "../tenant/index.ts";
