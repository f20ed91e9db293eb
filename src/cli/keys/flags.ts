import { KEYRING_KDFS } from "../command/global-flags.ts";
import { homeOf, userPath } from "../command/home.ts";
import type { CommandInput } from "../command/spec.ts";

/** The object without its undefined properties. */
export function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Where the keys are, from the flags that all commands with keys share. */
export function keyringOptions({ flags }: Pick<CommandInput, "flags">) {
  const dir = flags.optional("keyring-dir");
  return {
    home: homeOf(flags),
    keyringBackend: flags.text("keyring-backend"),
    prefix: flags.profile.bech32Prefix,
    ...defined({
      keyringDir: dir === undefined ? undefined : userPath(dir),
      keyringService: flags.optional("keyring-service"),
      keyringKdf: KEYRING_KDFS.find((each) => each === flags.text("keyring-kdf")),
      keyringPassphraseFile: flags.optional("keyring-passphrase-file"),
    }),
  };
}

/** The same with the output formats of the group `keys`. */
export function keysOptions(input: Pick<CommandInput, "flags">) {
  const output = input.flags.text("output") === "json" ? ("json" as const) : ("text" as const);
  const pubkeyFormat = input.flags.text("pubkey-format") === "json" ? ("json" as const) : ("bech32" as const);
  return { ...keyringOptions(input), output, pubkeyFormat };
}
