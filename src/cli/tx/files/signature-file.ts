import { SvcError } from "../../../util/index.ts";
import {
  type SignatureDescriptor,
  SignatureDescriptorsSchema,
} from "../../../wire/gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { fromJson, readJson } from "../../../wire/index.ts";
import { commandError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";

const HINT = "give a file that was made with: svc tx sign --multisig";
const MAX_BYTES = 4 * 1024 * 1024;

/** Signatures as `tx sign --signature-only` prints them. */
export function readSignatures(path: string): SignatureDescriptor[] {
  return parseSignatures(readFile(path), `signature file ${path}`);
}

/** Signatures for a batch of transactions: those of each line. */
export function readSignatureLines(path: string): SignatureDescriptor[][] {
  const lines = readFile(path).split("\n");
  return lines.flatMap((line, i) =>
    line.trim() === "" ? [] : [parseSignatures(line, `signature file ${path}, line ${i + 1}`)],
  );
}

function readFile(path: string): string {
  return readTextFile(path, { what: "signature file", maxBytes: MAX_BYTES, hint: HINT });
}

function parseSignatures(text: string, source: string): SignatureDescriptor[] {
  try {
    const { signatures } = fromJson(SignatureDescriptorsSchema, readJson(text));
    if (signatures.length === 0) throw commandError("it has no signatures");
    return signatures;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw commandError(`${source}: ${error.message}`, { hint: HINT, cause: error });
  }
}
