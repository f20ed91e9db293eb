import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { MAX_LISTED } from "../../../src/modules/authz/kinds/lists.ts";
import { MAX_NESTED_MESSAGES } from "../../../src/runtime/index.ts";
import { GenericAuthorizationSchema } from "../../../src/wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema, MsgRevokeSchema } from "../../../src/wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { type Any, encodeAddress, packAny, typeUrlOf } from "../../../src/wire/index.ts";
import type { GasChain } from "../chain.ts";
import { type Cases, type GasCase, newChain } from "./prepare.ts";

/** A year after every chain of a test. */
const LATE = create(TimestampSchema, { seconds: 4_000_000_000n });
const GENERIC = packAny(GenericAuthorizationSchema, { msg: typeUrlOf(MsgSendSchema) });
const GRANTER = "tenant";
const GRANTEE = "second";

const listed = Array.from({ length: MAX_LISTED }, (_, i) =>
  encodeAddress(Uint8Array.from({ length: 20 }, (__, j) => (j < 2 ? (i >> (8 * j)) & 255 : 9))),
);
const coins = (amount: string) => [{ denom: "utoken", amount }];
const longList = (last: string) =>
  packAny(SendAuthorizationSchema, { spendLimit: coins("1000000"), allowList: [...listed.slice(1), last] });

function grant(chain: GasChain, authorization: Any, grantee = GRANTEE) {
  const granter = chain.key(GRANTER).address;
  const to = chain.key(grantee).address;
  return create(MsgGrantSchema, { granter, grantee: to, grant: { authorization, expiration: LATE } });
}

function transfers(chain: GasChain, count: number, to = "third") {
  const [fromAddress, toAddress] = [chain.key(GRANTER).address, chain.key(to).address];
  const send = packAny(MsgSendSchema, { fromAddress, toAddress, amount: coins("1") });
  return create(MsgExecSchema, { grantee: chain.key(GRANTEE).address, msgs: Array<Any>(count).fill(send) });
}

const list = (chain: GasChain) => longList(chain.key("third").address);
const grantCase = (content: string, count: number, authorization: (chain: GasChain) => Any): GasCase => ({
  content: `${content}, to a new account`,
  count,
  prepare: (total) => {
    const chain = newChain();
    const signers = [chain.key(GRANTER)];
    const messages = (i: number) => [grant(chain, authorization(chain), `grantee${i}`)];

    return { chain, txs: Array.from({ length: total }, (_, i) => ({ signers, messages: messages(i) })) };
  },
});
const revokeCase = (content: string, count: number, authorization: (chain: GasChain) => Any): GasCase => ({
  content,
  count,
  prepare: (total) => {
    const chain = newChain();
    const from = chain.key(GRANTER);
    const txs = Array.from({ length: total }, (_, i) => {
      const grantee = `grantee${i}`;
      chain.mustSend(from, [grant(chain, authorization(chain), grantee)]);
      const pair = { granter: from.address, grantee: chain.key(grantee).address };
      const message = create(MsgRevokeSchema, { ...pair, msgTypeUrl: typeUrlOf(MsgSendSchema) });
      return { signers: [from], messages: [message] };
    });
    return { chain, txs };
  },
});
/** The most expensive contents of the messages of module authz. */
export const GRANTS: Cases = {
  "sdk.authz.v1beta1.MsgGrant": [
    grantCase("a generic one", 20, () => GENERIC),
    grantCase(`a list of ${MAX_LISTED} accounts`, 5, list),
  ],
  "sdk.authz.v1beta1.MsgRevoke": [
    revokeCase("a generic one", 20, () => GENERIC),
    revokeCase(`a list of ${MAX_LISTED} accounts`, 5, list),
  ],
  "sdk.authz.v1beta1.MsgExec": [
    {
      content: `${MAX_NESTED_MESSAGES} transfers by a generic grant`,
      count: 2,
      prepare: (count) => {
        const chain = newChain();
        chain.mustSend(chain.key(GRANTER), [grant(chain, GENERIC)]);
        const tx = { signers: [chain.key(GRANTEE)], messages: [transfers(chain, MAX_NESTED_MESSAGES)] };
        return { chain, txs: Array.from({ length: count }, () => tx) };
      },
    },
    {
      content: `20 transfers to the last of ${MAX_LISTED} accounts`,
      count: 2,
      prepare: (count) => {
        const chain = newChain();
        chain.mustSend(chain.key(GRANTER), [grant(chain, list(chain))]);
        const tx = { signers: [chain.key(GRANTEE)], messages: [transfers(chain, 20)] };
        return { chain, txs: Array.from({ length: count }, () => tx) };
      },
    },
  ],
};
