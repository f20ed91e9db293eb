import { checkTransport } from "../../keyring/index.ts";
import { errorText, SvcError } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { usageError } from "../errors.ts";

const FLAG = "ledger-transport";

/** `--ledger-transport`, checked: how the hardware device is reached. */
export function ledgerTransport(flags: Pick<Flags, "text" | "label">): string {
  const text = flags.text(FLAG) || "hid";
  try {
    checkTransport(text);
    return text;
  } catch (error) {
    throw usageError(`${flags.label(FLAG)}: ${errorText(error)}`, error instanceof SvcError ? error.hint : undefined);
  }
}
