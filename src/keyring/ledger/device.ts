import { verifySecp256k1 } from "../../crypto/index.ts";
import { BECH32_PREFIX, equalBytes } from "../../util/index.ts";
import { encodeAddress, type PublicKey, publicKeyAddress, type SinglePublicKey } from "../../wire/index.ts";
import type { DevicePath } from "../types.ts";
import { formatDevicePath } from "./apdu.ts";
import { CosmosApp, type DeviceKey } from "./app.ts";
import { ledgerErrors } from "./errors.ts";
import { openTransport } from "./open.ts";

/** How to reach a hardware device, and the user in front of it. */
export interface LedgerOptions {
  /** `hid`, or the address of an emulator: `tcp://host:port` or `http://host:port`. */
  readonly transport: string;
  /** Bech32 prefix of the network. */
  readonly prefix?: string;
  /** Tells the user something on standard error, such as that the device waits for its buttons. */
  readonly notify: (text: string) => void;
}

/** A key whose private half is on a device. */
export interface LedgerKey {
  /** Name of the key in the keyring, for messages. */
  readonly name: string;
  readonly publicKey: PublicKey;
  readonly path: DevicePath;
}

/**
 * The public key at a path of the connected device, after its user compared the address and approved. Rejects with one
 * of `ledgerErrors`, as the others do.
 */
export function confirmedLedgerKey(options: LedgerOptions, path: DevicePath): Promise<SinglePublicKey> {
  return withApp(options, async (app) => confirmAddress(app, path, options));
}

/** Shows the address of a key on its device and waits until the user approved it there. */
export function showLedgerKey(options: LedgerOptions, key: LedgerKey): Promise<void> {
  return withApp(options, async (app) => {
    await ownKey(app, key, options);
    await confirmAddress(app, key.path, options);
  });
}

/**
 * 64 bytes R||S over SHA-256 of a sign document in amino JSON, after the user approved it on the device. The device
 * must hold the key, and the signature must verify with the key.
 */
export function signWithLedger(options: LedgerOptions, key: LedgerKey, document: Uint8Array): Promise<Uint8Array> {
  return withApp(options, async (app) => {
    const { publicKey, prefix } = await ownKey(app, key, options);
    options.notify("confirm the transaction on the hardware device");
    const signature = await app.sign(key.path, prefix, document);
    if (!verifySecp256k1(publicKey.key, document, signature))
      throw ledgerErrors.badAnswer("the signature does not verify");
    return signature;
  });
}

async function withApp<T>({ transport }: LedgerOptions, run: (app: CosmosApp) => Promise<T>): Promise<T> {
  const opened = await openTransport(transport);
  try {
    return await run(await CosmosApp.open(opened));
  } finally {
    await opened.close();
  }
}

/** The key of the device at the path of a key of the keyring, which must be the same. */
async function ownKey(app: CosmosApp, key: LedgerKey, { prefix = BECH32_PREFIX }: LedgerOptions): Promise<DeviceKey> {
  const found = await app.key(key.path, prefix);
  if (key.publicKey.type === "secp256k1" && equalBytes(found.publicKey.key, key.publicKey.key)) return found;
  const address = (publicKey: PublicKey): string => encodeAddress(publicKeyAddress(publicKey), "account", prefix);
  throw ledgerErrors.otherKey(
    `key "${key.name}" is ${address(key.publicKey)}, the device has ${address(found.publicKey)} at ${formatDevicePath(key.path)}`,
  );
}

async function confirmAddress(app: CosmosApp, path: DevicePath, options: LedgerOptions): Promise<SinglePublicKey> {
  const { prefix = BECH32_PREFIX, notify } = options;
  const expected = await app.key(path, prefix);
  const own = encodeAddress(publicKeyAddress(expected.publicKey), "account", prefix);
  const spelling = expected.prefix === prefix ? "" : `, which is ${own} (the app does not know this network's prefix)`;
  notify(`confirm on the hardware device that it shows ${expected.address}${spelling}`);
  const shown = await app.show(path, expected.prefix);
  if (!equalBytes(shown.publicKey.key, expected.publicKey.key)) throw ledgerErrors.badAnswer("two keys at one path");
  return shown.publicKey;
}
