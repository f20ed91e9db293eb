// A chain in memory for tests: the real application, which makes a block when you say so and checks its invariants after each.

import { MsgSendSchema } from "svc/proto/sdk/bank/v1beta1/tx";
import { testChain } from "svc/testing";
import { packAny } from "svc/wire";

const chain = testChain();
const [alice, bob] = [chain.key("alice"), chain.key("bob")];
const before = chain.balance(bob.address);

const sent = chain.mustSend(
  packAny(MsgSendSchema, {
    fromAddress: alice.address,
    toAddress: bob.address,
    amount: [{ denom: "utoken", amount: "5" }],
  }),
  { from: alice },
);
console.log(`in block ${sent.height}, ${sent.gasUsed} gas; bob has ${chain.balance(bob.address) - before}utoken more`);
