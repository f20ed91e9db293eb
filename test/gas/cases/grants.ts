import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { MAX_LISTED } from "../../../src/modules/authz/kinds/lists.ts";
import { MAX_NESTED_MESSAGES } from "../../../src/runtime/index.ts";
import { GenericAuthorizationSchema } from "../../../src/wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema, MsgRevokeSchema } from "../../../src/wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { type Any, encodeAddress, packAny, typeUrlOf } from "../../../src/wire/index.ts";
import type { GasWorld } from "../world.ts";
import { type Cases, type GasCase, newWorld } from "./prepare.ts";

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

function grant(world: GasWorld, authorization: Any, grantee = GRANTEE) {
  const granter = world.key(GRANTER).address;
  const to = world.key(grantee).address;
  return create(MsgGrantSchema, { granter, grantee: to, grant: { authorization, expiration: LATE } });
}

function transfers(world: GasWorld, count: number, to = "third") {
  const [fromAddress, toAddress] = [world.key(GRANTER).address, world.key(to).address];
  const send = packAny(MsgSendSchema, { fromAddress, toAddress, amount: coins("1") });
  return create(MsgExecSchema, { grantee: world.key(GRANTEE).address, msgs: Array<Any>(count).fill(send) });
}

const list = (world: GasWorld) => longList(world.key("third").address);
const grantCase = (content: string, count: number, authorization: (world: GasWorld) => Any): GasCase => ({
  content: `${content}, to a new account`,
  count,
  prepare: (total) => {
    const world = newWorld();
    const signers = [world.key(GRANTER)];
    const messages = (i: number) => [grant(world, authorization(world), `grantee${i}`)];

    return { world, txs: Array.from({ length: total }, (_, i) => ({ signers, messages: messages(i) })) };
  },
});
const revokeCase = (content: string, count: number, authorization: (world: GasWorld) => Any): GasCase => ({
  content,
  count,
  prepare: (total) => {
    const world = newWorld();
    const from = world.key(GRANTER);
    const txs = Array.from({ length: total }, (_, i) => {
      const grantee = `grantee${i}`;
      world.mustSend(from, [grant(world, authorization(world), grantee)]);
      const pair = { granter: from.address, grantee: world.key(grantee).address };
      const message = create(MsgRevokeSchema, { ...pair, msgTypeUrl: typeUrlOf(MsgSendSchema) });
      return { signers: [from], messages: [message] };
    });
    return { world, txs };
  },
});
/** The dearest contents of the messages of module authz. */
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
        const world = newWorld();
        world.mustSend(world.key(GRANTER), [grant(world, GENERIC)]);
        const tx = { signers: [world.key(GRANTEE)], messages: [transfers(world, MAX_NESTED_MESSAGES)] };
        return { world, txs: Array.from({ length: count }, () => tx) };
      },
    },
    {
      content: `20 transfers to the last of ${MAX_LISTED} accounts`,
      count: 2,
      prepare: (count) => {
        const world = newWorld();
        world.mustSend(world.key(GRANTER), [grant(world, list(world))]);
        const tx = { signers: [world.key(GRANTEE)], messages: [transfers(world, 20)] };
        return { world, txs: Array.from({ length: count }, () => tx) };
      },
    },
  ],
};
