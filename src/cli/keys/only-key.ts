import type { KeyType } from "../../keyring/index.ts";
import type { CliContext } from "../context.ts";
import { usageError } from "../errors.ts";

/** Keys that can sign alone. */
const SIGNING: readonly KeyType[] = ["local", "ledger"];
const MISSING = "required flag --from is not set (or SVC_FROM)";

/** `--from`, or the name of the only key in the keyring that can sign. With two keys the choice is the user's. */
export async function signingKeyName(context: CliContext, kinds: readonly KeyType[] = SIGNING): Promise<string> {
  const { flags, keys: place } = context;
  const from = flags.optional("from");
  if (from !== undefined) return from;
  // An empty variable in a script does not say who pays.
  if (flags.typed("from")) throw fromMissing();
  const keyring = await context.keyring();
  const keys = (await keyring.list(() => undefined)).filter(({ type }) => kinds.includes(type));
  const [only, ...others] = keys.map(({ name }) => name);
  if (only === undefined) throw usageError(MISSING, await (await import("./keys.ts")).keysThere(keyring, place));
  if (others.length === 0) return only;
  throw usageError(MISSING, `the keyring has ${[only, ...others].join(", ")}`);
}

export function fromMissing(): Error {
  return usageError(MISSING, "name a key: svc keys list");
}
