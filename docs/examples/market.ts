// Shows the providers of a chain and what the deployments of an account have left:
// node tools/run.mjs docs/examples/market.ts <address>
import { ChainClient } from "svc";
import { marketReader } from "svc/market";

const [owner = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");

// Whole lists, page by page. `undefined` means that a record does not exist; a failed query rejects.
const market = marketReader(chain.query);
for (const { address, hostUri } of await market.providers()) console.log(`${address} at ${hostUri}`);
const deployments = await market.deployments({ owner, state: "active" });
for (const { dseq, escrow } of deployments) console.log(`deployment ${dseq}: ${escrow?.balance}${escrow?.denom} left`);
console.log(`${deployments.length} active`);

chain.close();
