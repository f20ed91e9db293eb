// Follows the chain and prints every transfer, until the given height: node tools/run.mjs docs/examples/follow.ts <height>
import { ChainClient, followBlocks } from "svc";

const [until = "0"] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");

// From block 1 on, each block once, in order and without gaps, over lost connections and restarts of the node.
for await (const block of followBlocks(chain, { from: 1n, onProblem: (error) => console.error(error.message) })) {
  for (const { hash, code, events } of block.txs) {
    if (code !== 0) continue;
    for (const { attributes } of events.filter(({ type }) => type === "transfer")) {
      const { sender, recipient, amount } = Object.fromEntries(attributes.map(({ key, value }) => [key, value]));
      console.log(`block ${block.height} ${hash.slice(0, 8)}: ${sender} -> ${recipient} ${amount}`);
    }
  }
  if (block.height >= BigInt(until)) break;
}

chain.close();
