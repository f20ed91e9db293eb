// Shows a balance that the node has to prove, from a block that you trust: node tools/run.mjs docs/examples/light.ts <height> <hash> <address>
import { ChainClient } from "svc";
import { LightClient, provenQueries, rpcSource } from "svc/light";
import { Query } from "svc/proto/sdk/bank/v1beta1/query";
import { fromHex } from "svc/wire";

const [height = "", hash = "", address = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");

const light = new LightClient({
  chainId: await chain.chainId(),
  // From people whom you trust, not from the node. It must be younger than 14 days.
  root: { height: BigInt(height), hash: fromHex(hash) },
  primary: rpcSource(chain.rpc),
  // Other nodes, which must agree: witnesses: [rpcSource(new RpcClient("tcp://other.example:26657"))]
});
const query = provenQueries(chain, light, { required: true });
const { value, height: at } = await query.callAt(Query.method.balance, { address, denom: "utoken" });
console.log(`${value.balance?.amount}utoken, verified at height ${at}`);

chain.close();
