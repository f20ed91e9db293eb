/**
 * The client library: everything that queries a chain or sends to it, for the command line, the provider and others.
 */
export { type AccountInfo, accountInfo } from "./chain/account.ts";
export { checkBlock, checkBlockSearch, checkStatus, checkValidators, readHeaders } from "./chain/answers.ts";
export { type BlockPace, blockPace, blockSeconds } from "./chain/block-time.ts";
export { ChainClient, type ChainOptions } from "./chain/chain.ts";
export * from "./chain/node.ts";
export { type ProofRequest, provenValue } from "./chain/proof.ts";
export {
  isMissingQuery,
  type QueryAnswer,
  type QueryClient,
  type QueryOptions,
  queryClient,
  type ServiceClient,
} from "./chain/query.ts";
export { type QueryFault, queryFault, readRefusal } from "./chain/refusal.ts";
export { clientErrors, isBusy, isUnproven, RpcError } from "./errors.ts";
export { type FollowOptions, followBlocks } from "./events/blocks.ts";
export { type WatchedEvent, type WatchOptions, watchEvents } from "./events/watch.ts";
export * from "./gateway/index.ts";
export * from "./light/index.ts";
export * from "./market/index.ts";
export { type Endpoint, parseNodeAddress } from "./rpc/endpoint.ts";
export { type RpcCall, RpcClient, type RpcOptions } from "./rpc/rpc.ts";
export type { Transport } from "./rpc/transport.ts";
export { RpcSocket, type SocketOptions, type Subscription, type SubscriptionItem } from "./rpc/websocket.ts";
export { type BroadcastMode, broadcastTx, latestHandIn, type WaitOptions, waitForTx } from "./tx/broadcast.ts";
export * from "./tx/gas.ts";
export {
  bodyFor,
  type EstimateOptions,
  estimateGas,
  type FeeOptions,
  feeFor,
  type GasEstimate,
  type OfflineTxOptions,
  offlineTx,
  type PreparedTx,
  prepareTx,
  simulateGas,
  type TxOptions,
  type TxSigner,
} from "./tx/prepare.ts";
export { meaningOf, remedyOf, txError } from "./tx/remedies.ts";
export { eventsQuery, queryTx, searchTxs, type TxPage } from "./tx/search.ts";
export { type MnemonicSignerOptions, mnemonicSigner, privateKeySigner } from "./tx/signers.ts";
export { type SignaturePlace, signaturePlace, simulateTx } from "./tx/simulate.ts";
export * from "./tx/tx.ts";
export {
  broadcastResponse,
  committedResponse,
  parseLogs,
  queriedResponse,
  type TxResponse,
  TxResponseSchema,
} from "./tx/tx-response.ts";
