// Waits for payments to an address and prints the first one: node tools/run.mjs docs/examples/watch.ts <address> <height>
import { ChainClient, watchEvents } from "svc";

const [recipient = "", from = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");

// Each event once, including blocks made while the connection was lost. Without `from` it starts at the current height.
const wanted = { type: "transfer", attributes: { recipient }, ...(from === "" ? {} : { from: BigInt(from) }) };
for await (const { height, attributes } of watchEvents(chain, wanted)) {
  console.log(`${attributes.amount} from ${attributes.sender} in block ${height}`);
  break;
}

chain.close();
