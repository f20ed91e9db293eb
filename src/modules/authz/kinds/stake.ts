import { create, type DescMessage } from "@bufbuild/protobuf";
import { coinMessage, readCoin } from "../../../runtime/index.ts";
import { formatCoin, sdkErrors } from "../../../util/index.ts";
import { type Coin, CoinSchema } from "../../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  AuthorizationType,
  type StakeAuthorization,
  StakeAuthorizationSchema,
} from "../../../wire/gen/sdk/staking/v1beta1/authz_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { authzErrors as errors, typeUrlOf } from "../../../wire/index.ts";
import { defineKind } from "./kind.ts";
import { checkList } from "./lists.ts";

/** Fields of all delegation messages: an amount, and the validator whose stake grows or shrinks. */
interface StakeMessage {
  readonly validatorAddress?: string;
  readonly validatorDstAddress?: string;
  readonly amount?: Coin;
}

const MESSAGES: ReadonlyMap<AuthorizationType, DescMessage> = new Map<AuthorizationType, DescMessage>([
  [AuthorizationType.DELEGATE, MsgDelegateSchema],
  [AuthorizationType.UNDELEGATE, MsgUndelegateSchema],
  [AuthorizationType.REDELEGATE, MsgBeginRedelegateSchema],
  [AuthorizationType.CANCEL_UNBONDING_DELEGATION, MsgCancelUnbondingDelegationSchema],
]);

/**
 * Allows one kind of change of delegations, up to a limit or without one, with some validators or with all but some.
 */
export const stakeKind = defineKind({
  schema: StakeAuthorizationSchema,
  typeUrl: ({ authorizationType }) => typeUrlOf(messageOf(authorizationType)),
  check: (authorization) => {
    const { maxTokens, validators, authorizationType } = authorization;
    messageOf(authorizationType);
    if (maxTokens !== undefined) checkLimit(maxTokens);
    checkValidators(validators);
    return authorization;
  },
  use: (authorization, { value }) => {
    const { validatorAddress, validatorDstAddress, amount } = value as StakeMessage;
    checkValidator(authorization, validatorDstAddress ?? validatorAddress ?? "");
    if (authorization.maxTokens === undefined) return authorization;
    const limit = readCoin(authorization.maxTokens);
    const taken = readCoin(amount);
    if (taken.denom !== limit.denom) throw sdkErrors.invalidCoins(`${formatCoin(taken)} is not in ${limit.denom}`);
    if (taken.amount > limit.amount)
      throw sdkErrors.insufficientFunds(`${formatCoin(taken)} is more than the limit of ${formatCoin(limit)}`);
    const left = { denom: limit.denom, amount: limit.amount - taken.amount };
    return left.amount === 0n ? undefined : { ...authorization, maxTokens: create(CoinSchema, coinMessage(left)) };
  },
});

function messageOf(type: AuthorizationType): DescMessage {
  const schema = MESSAGES.get(type);
  if (schema === undefined) throw errors.unknownType();
  return schema;
}

function checkLimit(coin: Coin): void {
  const { amount } = readCoin(coin);
  if (amount === 0n) throw errors.invalidLimit(formatCoin(coin));
}

/** An empty list of allowed validators would allow all: it is refused. */
function checkValidators({ case: name, value }: StakeAuthorization["validators"]): void {
  if (name === undefined) return;
  checkList(name === "allowList" ? "allow_list" : "deny_list", value.address, "valoper");
  if (name === "allowList" && value.address.length === 0)
    throw sdkErrors.invalidRequest("allow_list: names no validator");
}

function checkValidator({ validators }: StakeAuthorization, text: string): void {
  if (validators.case === undefined) return;
  const isListed = validators.value.address.includes(text);
  if (isListed !== (validators.case === "allowList"))
    throw sdkErrors.unauthorized(`cannot delegate/undelegate to ${text} validator`);
}
