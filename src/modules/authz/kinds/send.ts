import { create } from "@bufbuild/protobuf";
import { coinMessage, readSomeCoins } from "../../../runtime/index.ts";
import { sdkErrors, subtractCoins } from "../../../util/index.ts";
import { SendAuthorizationSchema } from "../../../wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { type MsgSend, MsgSendSchema } from "../../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { typeUrlOf } from "../../../wire/index.ts";
import { defineKind } from "./kind.ts";
import { checkList } from "./lists.ts";

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
