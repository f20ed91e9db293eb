import { create } from "@bufbuild/protobuf";
import { accountInfo, broadcastTx, type ChainClient, parseBroadcastMode } from "../../client/index.ts";
import { Service, type SimulateResponse, SimulateResponseSchema } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { AuthInfoSchema, type Tx } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { SignMode, singleMode, toJson, txSigners, unpackAny } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { commandError, usageError } from "../errors.ts";
import { printResult } from "../output.ts";
import type { CommandInput } from "../spec.ts";
import { readTxFile, txBytes } from "./file.ts";
import { printTxResult } from "./result.ts";

/** `tx broadcast FILE`. Nothing is asked: the transaction is signed. */
export async function broadcastFile(input: CommandInput): Promise<number> {
  const { args, flags, io } = input;
  if (flags.bool("offline")) throw usageError("cannot broadcast tx during offline mode", "leave out --offline");
  const mode = parseBroadcastMode(flags.text("broadcast-mode"));
  const tx = await readTxFile(args[0] ?? "", io);
  if (tx.signatures.length === 0) {
    throw commandError("the transaction is not signed", { hint: "sign it first: svc tx sign <file> --from <key>" });
  }
  const context = createContext(input);
  return printTxResult(context, await broadcastTx(await context.chain(), txBytes(tx), mode));
}

/** `tx simulate FILE`: the gas that a transaction would use, signed or not. */
export async function simulateFile(input: CommandInput): Promise<void> {
  const tx = await readTxFile(input.args[0] ?? "", input.io);
  const context = createContext(input);
  const answer = await simulated(await context.chain(), tx);
  printResult(toJson(SimulateResponseSchema, answer), context.output, input.io);
}

/** What the chain says of a transaction, signed or not, without sending it. */
export async function simulated(chain: ChainClient, tx: Tx): Promise<SimulateResponse> {
  const complete = tx.signatures.length > 0 ? tx : await withEmptySignatures(chain, tx);
  return chain.query.call(Service.method.simulate, { txBytes: txBytes(complete) });
}

/** A place for each signature that is still missing, with the sequence that it will have. */
async function withEmptySignatures(chain: ChainClient, tx: Tx): Promise<Tx> {
  const messages = (tx.body?.messages ?? []).map(unpackAny);
  const fee = tx.authInfo?.fee;
  const accounts = await Promise.all(txSigners(messages, fee).map((address) => accountInfo(chain.query, address)));
  const signerInfos = accounts.map(({ sequence }) => ({ modeInfo: singleMode(SignMode.DIRECT), sequence }));
  const authInfo = create(AuthInfoSchema, { signerInfos, ...(fee === undefined ? {} : { fee }) });
  return { ...tx, authInfo, signatures: accounts.map(() => new Uint8Array()) };
}
