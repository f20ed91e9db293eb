/** The client library: everything that is asked of a chain or sent to it, for the command line, the provider and others. */
export { type AccountInfo, accountInfo } from "./account.ts";
export { checkBlock, checkBlockSearch, checkStatus, checkValidators, readHeaders } from "./answers.ts";
export { type BlockPace, blockPace, blockSeconds } from "./block-time.ts";
export { type FollowOptions, followBlocks } from "./blocks.ts";
export { broadcastTx, type WaitOptions, waitForTx } from "./broadcast.ts";
export { type BroadcastMode, parseBroadcastMode } from "./broadcast-mode.ts";
export { ChainClient, type ChainOptions } from "./chain.ts";
export { type Endpoint, parseNodeAddress } from "./endpoint.ts";
export { clientErrors, RpcError } from "./errors.ts";
export * from "./gas.ts";
export * from "./gateway/index.ts";
export * from "./market/index.ts";
export * from "./node.ts";
export { type ProofRequest, provenValue } from "./proof.ts";
export {
  isMissingQuery,
  type QueryAnswer,
  type QueryClient,
  type QueryOptions,
  queryClient,
  type ServiceClient,
} from "./query.ts";
export { type QueryFault, queryFault, readRefusal } from "./refusal.ts";
export { meaningOf, remedyOf, txError } from "./remedies.ts";
export { type RpcCall, RpcClient, type RpcOptions } from "./rpc.ts";
export { eventsQuery, queryTx, searchTxs, type TxPage } from "./search.ts";
export { type MnemonicSignerOptions, mnemonicSigner, privateKeySigner } from "./signers.ts";
export { type SignaturePlace, signaturePlace, simulateTx } from "./simulate.ts";
export type { Transport } from "./transport.ts";
export * from "./tx.ts";
export {
  broadcastResponse,
  committedResponse,
  parseLogs,
  queriedResponse,
  type TxResponse,
  TxResponseSchema,
} from "./tx-response.ts";
export { type WatchedEvent, type WatchOptions, watchEvents } from "./watch.ts";
export { RpcSocket, type SocketOptions, type Subscription, type SubscriptionItem } from "./websocket.ts";
