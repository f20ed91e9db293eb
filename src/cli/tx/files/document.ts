import { writeFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { errorText } from "../../../util/index.ts";
import { SignatureDescriptorsSchema } from "../../../wire/gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { decodeTx, describeSignature, printJson, SignMode, toJson, toStdTx } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CliContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printTx } from "../session/print.ts";
import { txBytes } from "./file.ts";
import type { Signature, Signed } from "./signing.ts";

/** Which part of a signed transaction is printed. */
export type SignedForm = "transaction" | "older" | "signature";

/** `--amino` and `--signature-only`; a multisig member's share is only a signature. */
export function formOf(flags: Flags): SignedForm {
  const [older, alone] = [flags.bool("amino"), flags.bool("signature-only") || flags.given("multisig")];
  if (older && alone) {
    const other = flags.bool("signature-only") ? "--signature-only" : "--multisig";
    throw usageError(`--amino and ${other} cannot be used together: ${other} prints only a signature`);
  }
  return older ? "older" : alone ? "signature" : "transaction";
}

/** The mode of `--sign-mode`; `--amino` needs amino-json. */
export function modeOf(flags: Flags, mode: SignMode): SignMode {
  if (!flags.bool("amino") || mode === SignMode.LEGACY_AMINO_JSON) return mode;
  if (flags.typed("sign-mode")) throw usageError("--amino needs --sign-mode amino-json", "leave out --sign-mode");
  return SignMode.LEGACY_AMINO_JSON;
}

/** One line of JSON. */
export function renderSigned(signed: Signed, form: SignedForm): string {
  if (form === "signature") return signatureJson(signed);
  if (form === "transaction") return printTx(signed.tx);
  // The sender of the document chooses the text of the mode.
  return printJson({ tx: toStdTx(decodeTx(txBytes(signed.tx), { foreign: true })), mode: "block|sync|async" });
}

function signatureJson({ info, signature }: Signature): string {
  const signatures = create(SignatureDescriptorsSchema, { signatures: [describeSignature(info, signature)] });
  return printJson(toJson(SignatureDescriptorsSchema, signatures));
}

/** Prints lines, or writes them to the file of `--output-document`, all at once. */
export async function writeDocument({ flags, io }: CliContext, lines: readonly string[]): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join("");
  const path = flags.optional("output-document");
  if (path === undefined) {
    io.out(text);
    return;
  }
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw commandError(`--output-document: ${errorText(cause)}`, {
      hint: "name a file in an existing directory",
      cause,
    });
  }
}
