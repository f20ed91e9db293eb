import { create } from "@bufbuild/protobuf";
import { coinMessage, readCoin, readPositiveCoin } from "../../../runtime/index.ts";
import { formatCoin, sdkErrors } from "../../../util/index.ts";
import { DepositDeploymentAuthorizationSchema } from "../../../wire/gen/svc/deployment/v1beta1/authz_pb.js";
import {
  type MsgDepositDeployment,
  MsgDepositDeploymentSchema,
} from "../../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { typeUrlOf } from "../../../wire/index.ts";
import { defineKind } from "./kind.ts";

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
