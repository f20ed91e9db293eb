import type { TxSigner } from "../../client/index.ts";
import {
  confirmedLedgerKey,
  type DevicePath,
  type KeyInfo,
  type LedgerKey,
  type LedgerOptions,
  ledgerErrors,
  showLedgerKey,
  signWithLedger,
} from "../../keyring/index.ts";
import { assert } from "../../util/index.ts";
import { type PublicKey, SignMode } from "../../wire/index.ts";
import type { CliContext } from "../context/context.ts";
import type { Io } from "../terminal/io.ts";
import { ledgerTransport } from "./ledger-flag.ts";

/** How the device is reached, and the network whose addresses it shows. */
export interface DeviceFlags {
  /** `--ledger-transport`. */
  readonly ledgerTransport?: string;
  readonly prefix?: string;
}

/** Numbers of a path as `keys add` takes them. */
export interface PathNumbers {
  readonly account: number;
  readonly index: number;
  readonly coinType: number;
}

const PURPOSE = 44;

/** The public key of the connected device at `m/44'/<coinType>'/<account>'/0/<index>`, approved by its user. */
export async function deviceKey(
  flags: DeviceFlags,
  numbers: PathNumbers,
  io: Io,
): Promise<{ readonly publicKey: PublicKey; readonly path: DevicePath }> {
  const path = { ...numbers, purpose: PURPOSE, change: false };
  return { publicKey: await confirmedLedgerKey(optionsOf(flags, io), path), path };
}

/** Shows the address of a key on its device; resolves when its user has approved it there. */
export async function showOnDevice(flags: DeviceFlags, key: KeyInfo, io: Io): Promise<void> {
  await showLedgerKey(optionsOf(flags, io), onDevice(key));
}

/** A signer for a key on a device; the user approves each transaction there. */
export function deviceSigner(context: CliContext, address: string, key: KeyInfo): TxSigner {
  const { flags, profile, io } = context;
  const options = optionsOf({ ledgerTransport: ledgerTransport(flags), prefix: profile.bech32Prefix }, io);
  return {
    address,
    publicKey: key.publicKey,
    async sign(bytes, mode) {
      if (mode !== SignMode.LEGACY_AMINO_JSON) throw ledgerErrors.onlyTransactions(`key "${key.name}"`);
      return signWithLedger(options, onDevice(key), bytes);
    },
  };
}

function onDevice({ name, publicKey, path }: KeyInfo): LedgerKey {
  assert(path !== undefined, "a key on a device has a path");
  return { name, publicKey, path };
}

function optionsOf({ ledgerTransport: transport = "hid", prefix }: DeviceFlags, io: Io): LedgerOptions {
  return { transport, notify: (text) => io.err(`${text}\n`), ...(prefix === undefined ? {} : { prefix }) };
}
