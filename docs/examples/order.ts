// Creates a deployment, looks at its order and closes it again: some of the steps that `deploy` takes in one call.
// node tools/run.mjs docs/examples/order.ts <file> <key>
import { readFileSync } from "node:fs";
import { ChainClient, sendTx, type TxResponse } from "svc";
import { MsgCloseDeploymentSchema, MsgCreateDeploymentSchema } from "svc/proto/svc/deployment/v1beta1/tx";
import { Query } from "svc/proto/svc/market/v1beta1/query";
import { DEFAULT_TERMS, loadSdl } from "svc/sdl";
import { type Any, packAny } from "svc/wire";
import { keyOf } from "./signer.ts";

const [file = "", name = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");
const signer = await keyOf(process.env.SVC_HOME ?? "", name);
// With a chain, what cannot be ordered there is an error; without one, a warning.
const { groups, hash } = loadSdl(readFileSync(file, "utf8"), { file, chain: DEFAULT_TERMS });

async function send(message: Any): Promise<TxResponse> {
  const fees = [{ denom: "utoken", amount: 5000n }];
  const response = await sendTx(chain, signer, [message], { gas: "auto", fees });
  if (response.code !== 0) throw new Error(response.rawLog);
  return response;
}

// The current height is a number that no other deployment of the account has.
const { latestHeight: dseq } = await chain.node.status();
const id = { owner: signer.address, dseq };
const deposit = { denom: "utoken", amount: "5000000" };
await send(packAny(MsgCreateDeploymentSchema, { id, groups: [...groups], version: new Uint8Array(hash), deposit }));
const { orders } = await chain.query.call(Query.method.orders, { filters: { ...id, state: "open" } });
for (const { orderId, spec } of orders) console.log(`order ${orderId?.gseq}/${orderId?.oseq} of group ${spec?.name}`);

// Providers would bid now. Without a lease nothing runs, so the deployment can be closed.
const { height } = await send(packAny(MsgCloseDeploymentSchema, { id }));
console.log(`closed ${height > dseq ? "after" : "before"} block ${dseq}`);

chain.close();
