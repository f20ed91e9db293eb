// Prints what an account holds: node tools/run.mjs docs/examples/balances.ts <address>
import { ChainClient } from "svc";
import { Query } from "svc/proto/sdk/bank/v1beta1/query";

const [address = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");

// One typed function for each rpc of the service.
const bank = chain.query.service(Query);
const { balances } = await bank.allBalances({ address });
for (const { denom, amount } of balances) console.log(`${amount}${denom}`);

chain.close();
