// A node with its own chain in this process, for tests of programs that talk to a node: node tools/run.mjs docs/examples/test-node.ts
import { ChainClient, privateKeySigner, sendTx } from "svc";
import { MsgSendSchema } from "svc/proto/sdk/bank/v1beta1/tx";
import { testNode } from "svc/testing";
import { packAny } from "svc/wire";

const node = await testNode({ accounts: ["alice", "bob"] });
const chain = new ChainClient(node.url);
const [alice, bob] = [node.key("alice"), node.key("bob")];

const message = packAny(MsgSendSchema, {
  fromAddress: alice.address,
  toAddress: bob.address,
  amount: [{ denom: "utoken", amount: "5" }],
});
const { code } = await sendTx(chain, privateKeySigner(alice.privateKey), [message]);
console.log(`code ${code} on ${await chain.chainId()}`);

chain.close();
await node.stop();
