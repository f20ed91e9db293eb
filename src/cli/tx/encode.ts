import { create } from "@bufbuild/protobuf";
import { fromBase64, fromHex, toBase64 } from "../../util/index.ts";
import { TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeTx } from "../../wire/index.ts";
import { usageError } from "../errors.ts";
import type { CommandInput } from "../spec.ts";
import { readTxFile, txBytes } from "./file.ts";
import { printTx } from "./json.ts";

/** `tx encode FILE`: base64 of the bytes that are broadcast, the `tx_bytes` of REST. */
export async function encodeFile({ args, io }: CommandInput): Promise<void> {
  io.out(`${toBase64(txBytes(await readTxFile(args[0] ?? "", io)))}\n`);
}

/** `tx decode TEXT`. */
export async function decodeText({ args, flags, io }: CommandInput): Promise<void> {
  const { raw, body, authInfo } = decodeTx(readBytes((args[0] ?? "").trim(), flags.bool("hex")));
  io.out(`${printTx(create(TxSchema, { body, authInfo, signatures: raw.signatures }))}\n`);
}

function readBytes(text: string, isHex: boolean): Uint8Array {
  try {
    return isHex ? fromHex(text) : fromBase64(text);
  } catch {
    const hint = isHex ? "leave out --hex for base64" : "add --hex for hexadecimal";
    throw usageError(`<text> is not ${isHex ? "hexadecimal" : "base64"}`, hint);
  }
}
