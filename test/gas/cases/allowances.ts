import { create } from "@bufbuild/protobuf";
import { MAX_ALLOWED_MESSAGES, MAX_TYPE_URL_CHARACTERS } from "../../../src/modules/feegrant/allowance.ts";
import {
  AllowedMsgAllowanceSchema,
  BasicAllowanceSchema,
} from "../../../src/wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import {
  MsgGrantAllowanceSchema,
  MsgPruneAllowancesSchema,
  MsgRevokeAllowanceSchema,
} from "../../../src/wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { type Any, packAny } from "../../../src/wire/index.ts";
import type { GasChain } from "../chain.ts";
import { type Cases, type GasCase, newChain } from "./prepare.ts";

const GRANTER = "tenant";
const LATE = { seconds: 4_000_000_000n };
const BASIC = packAny(BasicAllowanceSchema, { spendLimit: [{ denom: "utoken", amount: "1000" }], expiration: LATE });
const LONG = packAny(AllowedMsgAllowanceSchema, {
  allowance: BASIC,
  allowedMessages: Array.from({ length: MAX_ALLOWED_MESSAGES }, (_, i) => `/${i}`.padEnd(MAX_TYPE_URL_CHARACTERS, "x")),
});

function grant(chain: GasChain, allowance: Any, grantee: string) {
  const [granter, to] = [chain.key(GRANTER).address, chain.key(grantee).address];
  return create(MsgGrantAllowanceSchema, { granter, grantee: to, allowance });
}

const grantCase = (content: string, allowance: Any): GasCase => ({
  content: `${content}, to a new account`,
  count: 10,
  prepare: (count) => {
    const chain = newChain();
    const signers = [chain.key(GRANTER)];
    const messages = (i: number) => [grant(chain, allowance, `grantee${i}`)];
    return { chain, txs: Array.from({ length: count }, (_, i) => ({ signers, messages: messages(i) })) };
  },
});

const revokeCase = (content: string, allowance: Any): GasCase => ({
  content,
  count: 10,
  prepare: (count) => {
    const chain = newChain();
    const from = chain.key(GRANTER);
    const txs = Array.from({ length: count }, (_, i) => {
      chain.mustSend(from, [grant(chain, allowance, `grantee${i}`)]);
      const pair = { granter: from.address, grantee: chain.key(`grantee${i}`).address };
      return { signers: [from], messages: [create(MsgRevokeAllowanceSchema, pair)] };
    });
    return { chain, txs };
  },
});

/** The most expensive contents of the messages of module feegrant. */
export const ALLOWANCES: Cases = {
  "sdk.feegrant.v1beta1.MsgGrantAllowance": [
    grantCase("a limit", BASIC),
    grantCase(`${MAX_ALLOWED_MESSAGES} types of messages`, LONG),
  ],
  "sdk.feegrant.v1beta1.MsgRevokeAllowance": [
    revokeCase("a limit", BASIC),
    revokeCase(`${MAX_ALLOWED_MESSAGES} types of messages`, LONG),
  ],
  "sdk.feegrant.v1beta1.MsgPruneAllowances": [
    {
      content: "nothing has ended",
      count: 20,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(GRANTER);
        const tx = { signers: [from], messages: [create(MsgPruneAllowancesSchema, { pruner: from.address })] };
        return { chain, txs: Array.from({ length: count }, () => tx) };
      },
    },
  ],
};
