// Verifies the newest block from one that you trust, whatever the node says: node tools/run.mjs docs/examples/light.ts <height> <hash>
import { ChainClient } from "svc";
import { LightClient, rpcSource } from "svc/light";
import { fromHex, toHex } from "svc/wire";

const [height = "", hash = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");

const light = new LightClient({
  chainId: await chain.chainId(),
  // From people whom you trust, not from the node. It must be younger than 14 days.
  root: { height: BigInt(height), hash: fromHex(hash) },
  primary: rpcSource(chain.rpc),
  // Other nodes, which must agree: witnesses: [rpcSource(new RpcClient("tcp://other.example:26657"))]
});
const { header } = await light.latest();
console.log(`block ${header.height} of ${header.chainId} is verified: app hash ${toHex(header.appHash)}`);

chain.close();
