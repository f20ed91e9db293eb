// Signs a transfer without a network, as on a machine that is never connected, and broadcasts it from another one.
// node tools/run.mjs docs/examples/offline.ts <key> <to-address>
import { accountInfo, broadcastTx, ChainClient, offlineTx, signTx } from "svc";
import { MsgSendSchema } from "svc/proto/sdk/bank/v1beta1/tx";
import { packAny } from "svc/wire";
import { keyOf } from "./signer.ts";

const [name = "", to = ""] = process.argv.slice(2);
const chain = new ChainClient(process.env.SVC_NODE ?? "tcp://localhost:26657");
const signer = await keyOf(process.env.SVC_HOME ?? "", name);

// To be carried to the machine with the key: the three values that a signature covers.
const { accountNumber, sequence } = await accountInfo(chain.query, signer.address);
const chainId = await chain.chainId();

// On that machine: nothing here uses the network.
const message = packAny(MsgSendSchema, {
  fromAddress: signer.address,
  toAddress: to,
  amount: [{ denom: "utoken", amount: "1000000" }],
});
const fees = [{ denom: "utoken", amount: 5000n }];
const signed = await signTx(offlineTx([message], { chainId, accountNumber, sequence, fees }), signer);

// To be carried back: the bytes.
const { code, rawLog, txhash, height } = await broadcastTx(chain, signed, "block");
console.log(code === 0 ? `${txhash} in block ${height}` : `refused with code ${code}: ${rawLog}`);

chain.close();
