/**
 * The workflow of a deployment, from a file to running services. Parts that need Node.js are exported by
 * `node/index.ts`.
 */

export type { BidRecord, ProviderRecord } from "../client/index.ts";
export { type MarketTxOptions, marketBy } from "./chain/chain-market.ts";
export { type LiveMarketOptions, liveMarket, type WebPartsOptions, webParts } from "./chain/live-market.ts";
export { type DeploymentLine, listDeployments, type PsParts } from "./manage/deployments.ts";
export { type EstimateOptions, estimate, type GroupEstimate } from "./manage/estimate.ts";
export { type CloseResult, closeAndSettle, topUp } from "./manage/money.ts";
export { pickDeployment, type ServiceLease, serviceLeases } from "./manage/pick.ts";
export { leastDeposit, totalPrice } from "./order/deposit.ts";
export { addressLines, type DeployResult, type LeaseResult, type PortResult, type ServiceResult } from "./result.ts";
export { runDeploy } from "./run.ts";
export { unlessInterrupted } from "./session/clock.ts";
export { deployErrors } from "./session/errors.ts";
export { JOURNAL_STEPS, type Journal, type JournalEntry, memoryJournal } from "./session/journal.ts";
export { certifiedBy, gatewayOf, gatewayParts } from "./session/live-gateway.ts";
export type { CommittedMessages, Market } from "./session/market.ts";
export type { Offer } from "./session/offer.ts";
export type { BidChoice, BidPolicy } from "./session/policy.ts";
export type { DeployReporter, Note, ProviderRefusal, StepName, StepTime, Wait } from "./session/progress.ts";
export {
  type DeployChoices,
  type DeployParts,
  type DeployRequest,
  fingerprintOf,
  type Questions,
  type TextSource,
  textRequest,
} from "./session/session.ts";
export { groupChanges, runUpdate, type UpdateRequest } from "./update.ts";
