import { create } from "@bufbuild/protobuf";
import { coinMessage, readCoin, readPositiveCoin, readSomeCoins } from "../../../runtime/index.ts";
import { formatCoin, sdkErrors, subtractCoins } from "../../../util/index.ts";
import { GenericAuthorizationSchema } from "../../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { SendAuthorizationSchema } from "../../../wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { type MsgSend, MsgSendSchema } from "../../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { DepositDeploymentAuthorizationSchema } from "../../../wire/gen/svc/deployment/v1beta1/authz_pb.js";
import {
  type MsgDepositDeployment,
  MsgDepositDeploymentSchema,
} from "../../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { toNamespace, typeUrlOf } from "../../../wire/index.ts";
import { defineKind } from "./kind.ts";
import { checkList } from "./lists.ts";

/** Allows all messages of a type, without limit. */
export const genericKind = defineKind({
  schema: GenericAuthorizationSchema,
  typeUrl: ({ msg }) => msg,
  check: (authorization) => {
    if (authorization.msg === "") throw sdkErrors.invalidRequest("msg type cannot be empty");
    return { ...authorization, msg: toNamespace(authorization.msg, "sdk") };
  },
  use: (authorization) => authorization,
});

/** Allows transfers up to a limit, to some accounts or to any. */
export const sendKind = defineKind({
  schema: SendAuthorizationSchema,
  typeUrl: () => typeUrlOf(MsgSendSchema),
  check: (authorization) => {
    readSomeCoins(authorization.spendLimit);
    checkList("allow_list", authorization.allowList, "account");
    return authorization;
  },
  use: ({ spendLimit, allowList }, { value }) => {
    const { amount, toAddress } = value as MsgSend;
    const left = subtractCoins(readSomeCoins(spendLimit), readSomeCoins(amount));
    if (left === undefined) throw sdkErrors.insufficientFunds("requested amount is more than spend limit");
    if (allowList.length > 0 && !allowList.includes(toAddress))
      throw sdkErrors.unauthorized(`cannot send to ${toAddress} address`);
    return left.length === 0
      ? undefined
      : create(SendAuthorizationSchema, { spendLimit: left.map(coinMessage), allowList });
  },
});

/** Allows deposits into deployments up to a limit, in one denomination. */
export const depositKind = defineKind({
  schema: DepositDeploymentAuthorizationSchema,
  typeUrl: () => typeUrlOf(MsgDepositDeploymentSchema),
  check: (authorization) => {
    readPositiveCoin(authorization.spendLimit);
    return authorization;
  },
  use: ({ spendLimit }, { value }) => {
    const limit = readCoin(spendLimit);
    const taken = readCoin((value as MsgDepositDeployment).amount);
    if (taken.denom !== limit.denom) throw sdkErrors.invalidCoins(`${formatCoin(taken)} is not in ${limit.denom}`);
    if (taken.amount > limit.amount)
      throw sdkErrors.insufficientFunds(`${formatCoin(taken)} is more than the spend limit of ${formatCoin(limit)}`);
    const left = { denom: limit.denom, amount: limit.amount - taken.amount };
    if (left.amount === 0n) return undefined;
    return create(DepositDeploymentAuthorizationSchema, { spendLimit: coinMessage(left) });
  },
});
