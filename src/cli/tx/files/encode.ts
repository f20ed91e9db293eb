import { create } from "@bufbuild/protobuf";
import { fromBase64, fromHex, toBase64 } from "../../../util/index.ts";
import { TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeTx, encodeStdTx, isStdTx, MAX_TX_BYTES, printJson, readStdTx } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { printTx } from "../session/print.ts";
import { readTxFile, tellUnknown, txBytes } from "./file.ts";

/** Hexadecimal with line ends. */
const MAX_TEXT = 4 * MAX_TX_BYTES;

/** `tx encode FILE`: base64 of the bytes that are broadcast, the `tx_bytes` of REST; with `--amino` of a StdTx. */
export async function encodeFile({ args, flags, io }: CommandInput): Promise<void> {
  const bytes = txBytes(await readTxFile(args[0] ?? "", io));
  io.out(`${toBase64(flags.bool("amino") ? encodeStdTx(decodeTx(bytes, { foreign: true })) : bytes)}\n`);
}

/** `tx decode TEXT`. */
export async function decodeText({ args, flags, io }: CommandInput): Promise<void> {
  const [text = ""] = args;
  const bytes = readBytes((text === "-" ? await io.readAll(MAX_TEXT) : text).trim(), flags.bool("hex"));
  if (bytes.length === 0) throw usageError("<text> is empty", "give a transaction in base64 or hexadecimal");
  if (isStdTx(bytes)) {
    io.err("the transaction is in legacy amino; it is shown in its older JSON form, which no chain accepts any more\n");
    io.out(`${printJson(readStdTx(bytes))}\n`);
    return;
  }
  const { raw, body, authInfo } = decodeTx(bytes, { foreign: true });
  const tx = create(TxSchema, { body, authInfo, signatures: raw.signatures });
  tellUnknown(tx, io);
  io.out(`${printTx(tx)}\n`);
}

function readBytes(text: string, isHex: boolean): Uint8Array {
  try {
    return isHex ? fromHex(text) : fromBase64(text);
  } catch {
    const hint = isHex ? "leave out --hex for base64" : "add --hex for hexadecimal";
    throw usageError(`<text> is not ${isHex ? "hexadecimal" : "base64"}`, hint);
  }
}
