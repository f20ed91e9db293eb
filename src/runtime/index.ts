export type { Account } from "./ante/account.ts";
export type { AnteAccounts, AnteBank, AnteOptions, AnteParams, FeeGrants, FeeUse } from "./ante/ante.ts";
export { type BlockInfo, type BlockProblem, Context, type Mode } from "./context.ts";
export { type Event, EventSink } from "./events.ts";
export { BlockItemFailure, GivenUp, isFatal, isPanic, runBlockItem, runVitalItem } from "./failure.ts";
export { BlockGas, type GasMeter, infiniteGas, limitedGas } from "./gas/gas.ts";
export { fixedGas, type GasRow, gasTable, gasTableProblems, MAX_GAS_PRICE } from "./gas/message-gas.ts";
export { type GasCosts, meteredStore } from "./gas/metered.ts";
export {
  type BlockPhase,
  type BlockUpdates,
  type BoundMethod,
  type BoundService,
  bindService,
  bindSome,
  brokenInvariants,
  defineGenesis,
  defineModule,
  type GenesisPart,
  type Handlers,
  type Invariant,
  InvariantBreach,
  type LongListWalk,
  type Module,
  type ModuleAccountSpec,
  movedDue,
  movedEnd,
  movedHeight,
  type Restart,
  type RestartPart,
  type Validators,
} from "./module.ts";
export { paramsItem, remembered, updateParams } from "./params.ts";
export {
  type CoinMessage,
  coinMessage,
  readCoin,
  readCoins,
  readPositiveCoin,
  readSomeCoins,
} from "./requests/coins.ts";
export { entryProblems } from "./requests/entries.ts";
export {
  blockProblems,
  durationProblems,
  LEAST_BLOCK_BYTES,
  LEAST_BLOCK_GAS,
  MOST_SUPPLY,
  priceProblems,
} from "./requests/governable.ts";
export {
  plainFailure,
  type QueryFailure,
  type QueryStatus,
  queryFailure,
  StatusError,
} from "./requests/query-failure.ts";
export { checkAddress, checkAuthority, minimumsProblems, readState } from "./requests/requests.ts";
export { readTime } from "./requests/times.ts";
export { type MessageRoute, type QueryRoute, Router } from "./router.ts";
export { failedMessage } from "./run/messages.ts";
export {
  type BlockBid,
  type CheckOutcome,
  type TxEnvironment,
  type TxOutcome,
  TxRunner,
  type TxRunnerOptions,
} from "./run/runner.ts";
export {
  MAX_MESSAGE_NESTING,
  MAX_NESTED_MESSAGES,
  type MessageService,
  messageService,
  type NestedMessage,
} from "./run/service.ts";
