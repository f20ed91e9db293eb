import { create } from "@bufbuild/protobuf";
import { printable, SvcError } from "../../../util/index.ts";
import { AuthInfoSchema, type Tx, TxBodySchema, TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  type Any,
  encodeMessage,
  encodeTx,
  fromJson,
  MAX_TX_BYTES,
  opaqueTypes,
  readJson,
} from "../../../wire/index.ts";
import { commandError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";
import type { Io } from "../../terminal/io.ts";
import type { TxParts } from "../session/print.ts";

const HINT = "give a file with a transaction in JSON, as printed by --generate-only and tx sign";
/** In a file or standard input: JSON is larger than the bytes that are sent. */
const MAX_BYTES = 8 * MAX_TX_BYTES;

/** The transaction in a file, or in standard input if the file is `-`. Names and spelling of types do not change. */
export async function readTxFile(path: string, io: Pick<Io, "readAll" | "err">): Promise<Tx> {
  const tx = parseTx(await readInput(path, io), nameOf(path));
  tellUnknown(tx, io);
  return tx;
}

/** The transactions in a file with one on each line; empty lines are skipped. */
export async function readTxLines(path: string, io: Pick<Io, "readAll" | "err">): Promise<Tx[]> {
  const lines = (await readInput(path, io)).split("\n");
  const txs = lines.flatMap((line, i) => (line.trim() === "" ? [] : [parseTx(line, `${nameOf(path)}, line ${i + 1}`)]));
  if (txs.length === 0) throw commandError(`${nameOf(path)} is empty`, { hint: HINT });
  for (const tx of txs) tellUnknown(tx, io);
  return txs;
}

/** Says which messages cannot be shown. */
export function tellUnknown(tx: Tx, io: Pick<Io, "err">): void {
  tellUnknownMessages(tx.body?.messages ?? [], io);
}

export function tellUnknownMessages(messages: readonly Any[], io: Pick<Io, "err">): void {
  for (const type of opaqueTypes(messages)) {
    io.err(
      `a message of type ${printable(type)} is not known: it is passed on as bytes, and its content cannot be shown\n`,
    );
  }
}

/** The name of a path, for errors. */
function nameOf(path: string): string {
  return path === "-" ? "standard input" : `transaction file ${path}`;
}

/** The text of a file, or of standard input for `-`. */
async function readInput(path: string, io: Pick<Io, "readAll">): Promise<string> {
  if (path === "-") return io.readAll(MAX_BYTES);
  return readTextFile(path, { what: "transaction file", maxBytes: MAX_BYTES, hint: HINT });
}

function parseTx(text: string, source: string): Tx {
  try {
    const tx = fromJson(TxSchema, readJson(text), { opaque: true });
    if (tx.body === undefined || tx.body.messages.length === 0) throw commandError("it has no messages");
    return tx;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw commandError(`${source}: ${error.message}`, { hint: HINT, cause: error });
  }
}

/** The bytes of the two signed parts. */
export function txParts(tx: Tx): TxParts {
  return {
    bodyBytes: encodeMessage(TxBodySchema, tx.body ?? create(TxBodySchema)),
    authInfoBytes: encodeMessage(AuthInfoSchema, tx.authInfo ?? create(AuthInfoSchema)),
  };
}

/** The bytes of the transaction for broadcast. */
export function txBytes(tx: Tx): Uint8Array {
  return encodeTx(txParts(tx), tx.signatures);
}
