import type { KeyInfo } from "../../../keyring/index.ts";
import { SignMode } from "../../../wire/index.ts";
import type { CliContext } from "../../context.ts";
import { usageError } from "../../errors.ts";

/** What the reference tool prints when it chooses the mode. */
const NOTICE = "Default sign-mode 'direct' not supported by Ledger, using sign-mode 'amino-json'.";

/**
 * The mode in which a key signs. A hardware device shows and signs only amino JSON; `--ledger` requires a key on one.
 */
export function modeForKey({ flags, io }: CliContext, mode: SignMode, key: KeyInfo | undefined): SignMode {
  if (key === undefined) return mode;
  if (key.type !== "ledger") {
    if (!flags.bool("ledger")) return mode;
    const hint = "leave out --ledger, or add the device's key: svc keys add <name> --ledger";
    throw usageError(`--ledger: key "${key.name}" is not on a hardware device, its type is ${key.type}`, hint);
  }
  if (mode === SignMode.LEGACY_AMINO_JSON) return mode;
  if (flags.given("sign-mode")) {
    const hint = "use --sign-mode amino-json, or leave it out";
    throw usageError(`${flags.label("sign-mode")}: a hardware device cannot sign in mode direct`, hint);
  }
  io.err(`${NOTICE}\n`);
  return SignMode.LEGACY_AMINO_JSON;
}
