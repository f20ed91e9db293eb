import {
  type Keyring,
  type KeyringKdf,
  openKeyring,
  type PassphraseSource,
  passphraseFile,
} from "../../keyring/index.ts";
import { trimSpace } from "../../util/index.ts";
import type { Io } from "../terminal/io.ts";

/** The options of all commands that use keys. */
export interface KeyringFlags {
  readonly home: string;
  /** `--keyring-backend`. */
  readonly keyringBackend: string;
  /** `--keyring-dir`; the home when it is left out. */
  readonly keyringDir?: string | undefined;
  /** `--keyring-passphrase-file`, for unattended starts. */
  readonly keyringPassphraseFile?: string | undefined;
  /** `--keyring-kdf`; "standard" when it is left out. */
  readonly keyringKdf?: KeyringKdf | undefined;
  /** `--keyring-service`; our own name when it is left out. */
  readonly keyringService?: string | undefined;
  /** Bech32 prefix of the network, when it is not our own. */
  readonly prefix?: string;
}

/** Attempts that a user has at a passphrase. */
const ATTEMPTS = 3;

/** Opens the keyring of the flags; it asks for a passphrase when first needed. */
export function cliKeyring(flags: KeyringFlags, io: Io): Keyring {
  const { keyringPassphraseFile: file, keyringService: service, keyringKdf: kdf, prefix } = flags;
  return openKeyring({
    backend: flags.keyringBackend,
    dir: flags.keyringDir ?? flags.home,
    passphrase: file === undefined ? promptedPassphrase(io) : passphraseFile(file),
    notify: (text) => io.err(`${text}\n`),
    ...(kdf === undefined ? {} : { kdf }),
    ...(service === undefined ? {} : { service }),
    ...(prefix === undefined ? {} : { prefix }),
  });
}

/** The passphrase as the user types it, or as lines of piped input. */
export function promptedPassphrase(io: Io): PassphraseSource {
  return {
    attempts: ATTEMPTS,
    trims: !io.isTTY,
    ask: (prompt) => io.password(prompt),
    notify: (text) => io.err(`${text}\n`),
  };
}

/** A new secret: typed, or a line of piped input without white space at its ends. */
export async function newSecret(prompt: string, io: Io): Promise<string> {
  const line = await io.password(prompt);
  return io.isTTY ? line : trimSpace(line);
}
