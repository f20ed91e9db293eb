import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { coin, MIN_DEPOSIT, orderOf, price, TestMarket } from "../../../test/support/chain/index.ts";
import { becomeOperator, passProposal, SHORT_VOTES } from "../../../test/support/proposals.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { testChain } from "../../testing/index.ts";
import { Query } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { MsgCreateBidSchema, MsgUpdateParamsSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { defaultParams } from "./params.ts";

test("bids beyond a limit that governance has lowered stay, and a cheaper one takes the place of the dearest", () => {
  const names = ["bob", "carol", "dave", "erin"];
  const chain = testChain({ accounts: ["alice", ...names], genesis: { gov: SHORT_VOTES } });
  const [alice, erin] = [chain.key("alice"), chain.key("erin")];
  const market = new TestMarket(chain);
  market.register(...names.map((name) => chain.key(name)));
  const order = orderOf(market.deploy(alice, { dseq: 1n }));
  const bid = (amount: string, from = erin) => {
    const message = { order, provider: from.address, price: price(amount), deposit: coin(MIN_DEPOSIT) };
    return chain.send(create(MsgCreateBidSchema, message), { from });
  };
  const bidders = () => {
    const { bids } = chain.query(Query.method.bids, { filters: { ...order, state: "open" } });
    return names.filter((name) => bids.some((each) => each.bid?.bidId?.provider === chain.key(name).address));
  };
  for (const [i, amount] of ["0.3", "0.5", "0.4"].entries())
    expect(bid(amount, chain.key(names[i] ?? "")).code).toBe(0);

  becomeOperator(chain, alice);
  const params = { ...defaultParams(), orderMaxBids: 1 };
  const authority = encodeAddress(moduleAddress("gov"));
  passProposal(chain, alice, create(MsgUpdateParamsSchema, { authority, params }));
  expect(bidders()).toEqual(["bob", "carol", "dave"]);
  expect(bid("0.6")).toMatchObject({ codespace: "market", code: 31 });
  expect(bid("0.2").code).toBe(0);
  expect(bidders()).toEqual(["bob", "dave", "erin"]);
  const [first, second] = chain.exportTwice();
  expect(second).toEqual(first);
});
