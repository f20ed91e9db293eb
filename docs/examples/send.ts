// Sends 1 TOKEN from a key of the home: node tools/run.mjs docs/examples/send.ts <key> <to-address>
import { ChainClient, sendTx } from "svc";
import { MsgSendSchema } from "svc/proto/sdk/bank/v1beta1/tx";
import { packAny } from "svc/wire";
import { keyOf } from "./signer.ts";

const [name = "", to = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");
const signer = await keyOf(process.env.SVC_HOME ?? "", name);

const message = packAny(MsgSendSchema, {
  fromAddress: signer.address,
  toAddress: to,
  amount: [{ denom: "utoken", amount: "1000000" }],
});

// Signs, broadcasts and waits for the block. A refusal is a result with a code, not an exception.
const { code, codespace, rawLog, txhash, height } = await sendTx(chain, signer, [message], {
  fees: [{ denom: "utoken", amount: 5000n }],
});
console.log(code === 0 ? `${txhash} in block ${height}` : `refused with code ${code} of ${codespace}: ${rawLog}`);

chain.close();
