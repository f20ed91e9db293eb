import { create } from "@bufbuild/protobuf";
import { gasTable, gasTableProblems, minimumsProblems } from "../../runtime/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Msg } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { marketErrors as errors } from "../../wire/index.ts";

const BID_MIN_DEPOSIT = "5000000";
const ORDER_MAX_BIDS = 20;
/** About one day at six seconds a block. */
const ORDER_MAX_OPEN_BLOCKS = 14_400n;
/** Above this the height at which an order expires would not fit into 64 bits. */
const MAX_OPEN_BLOCKS = 2n ** 40n;
/** Bounds of `order_max_bids`: the end of an order touches all its open bids. */
export const MAX_BIDS_CAP = 500;

/**
 * Fixed gas of each message, which includes this much store gas; a bid also pays for its own end, which may be a
 * block's work.
 */
const MESSAGE_GAS = {
  MsgCreateBid: 90_000n,
  MsgCloseBid: 50_000n,
  MsgCreateLease: 130_000n,
  MsgCloseLease: 70_000n,
  MsgWithdrawLease: 40_000n,
  MsgWithdrawLeases: 60_000n,
};

export function defaultParams(): Params {
  return create(ParamsSchema, {
    orderMaxBids: ORDER_MAX_BIDS,
    bidMinDeposits: [{ denom: NATIVE_DENOM, amount: BID_MIN_DEPOSIT }],
    orderMaxOpenBlocks: ORDER_MAX_OPEN_BLOCKS,
    messageGas: gasTable(MESSAGE_GAS),
  });
}

/** Refuses parameters with which the module could not work. Throws `market/29`. */
export function checkParams(params: Params): Params {
  const [problem] = paramsProblems(params);
  if (problem !== undefined) throw errors.invalidParams(problem);
  return params;
}

/** Faults of parameters, one sentence each. */
export function paramsProblems({ orderMaxBids, orderMaxOpenBlocks, bidMinDeposits, messageGas }: Params): string[] {
  return [
    ...(orderMaxBids < 1 || orderMaxBids > MAX_BIDS_CAP
      ? [`order_max_bids is ${orderMaxBids}, allowed are 1 to ${MAX_BIDS_CAP}`]
      : []),
    ...(orderMaxOpenBlocks < 1n || orderMaxOpenBlocks > MAX_OPEN_BLOCKS
      ? [`order_max_open_blocks must be 1 to ${MAX_OPEN_BLOCKS}`]
      : []),
    ...minimumsProblems("bid_min_deposits", bidMinDeposits),
    ...gasTableProblems(Msg, messageGas),
  ];
}
