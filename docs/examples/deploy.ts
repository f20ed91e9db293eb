// Deploys a file with a key of the home and prints where it answers: node tools/run.mjs docs/examples/deploy.ts <file> <key>
import { deploy } from "svc/deploy";
import { keyOf } from "./signer.ts";

const [file = "", name = ""] = process.argv.slice(2);
const home = process.env.SVC_HOME ?? "";

const result = await deploy(
  {
    file,
    home,
    node: process.env.SVC_NODE ?? "tcp://localhost:26657",
    signer: await keyOf(home, name),
    policy: { choice: { kind: "cheapest" } },
    tx: { fees: [{ denom: "utoken", amount: 5000n }] },
  },
  {
    step: ({ name: step, ms }) => console.error(`${step}: ${ms} ms`),
    waiting: (text) => console.error(`waiting for ${text}`),
    note: (text) => console.error(text),
  },
);

console.log(`deployment ${result.dseq}`);
for (const { provider, price } of result.leases) console.log(`${price.amount}${price.denom} per block to ${provider}`);
for (const uri of result.uris) console.log(uri);
