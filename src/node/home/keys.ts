import { existsSync, readFileSync, statSync } from "node:fs";
import { consensusAddress, ed25519PublicKey, generateEd25519Seed } from "../../crypto/index.ts";
import { PRIVATE_KEY_TYPE, PUBLIC_KEY_TYPE } from "../../engine/index.ts";
import { concatBytes, equalBytes, fromBase64, shellWord, toBase64, toHex, toHexUpper } from "../../util/index.ts";
import { nodeErrors } from "../errors.ts";
import { writeWhole } from "./home.ts";

const SECRET_MODE = 0o600;
const SEED_BYTES = 32;

/** The seed in a key file, which is created if missing. */
export function loadOrMakeKey(path: string, write: (path: string, seed: Uint8Array) => void): Uint8Array {
  if (existsSync(path)) return readKeyFile(path);
  const seed = generateEd25519Seed();
  write(path, seed);
  return seed;
}

/** Writes `priv_validator_key.json` in the reference engine's form. */
export function writeValidatorKey(path: string, seed: Uint8Array): void {
  const publicKey = ed25519PublicKey(seed);
  const json = {
    address: toHexUpper(consensusAddress(publicKey)),
    pub_key: { type: PUBLIC_KEY_TYPE, value: toBase64(publicKey) },
    priv_key: privateKeyJson(seed, publicKey),
  };
  writeWhole(path, `${JSON.stringify(json, null, 2)}\n`, SECRET_MODE);
}

/** Writes `node_key.json` in the reference engine's form. */
export function writeNodeKey(path: string, seed: Uint8Array): void {
  const json = { priv_key: privateKeyJson(seed, ed25519PublicKey(seed)) };
  writeWhole(path, `${JSON.stringify(json)}\n`, SECRET_MODE);
}

/** The name of a node in its network: lower-case hex of its key's address. */
export function nodeId(seed: Uint8Array): string {
  return toHex(consensusAddress(ed25519PublicKey(seed)));
}

function privateKeyJson(seed: Uint8Array, publicKey: Uint8Array) {
  return { type: PRIVATE_KEY_TYPE, value: toBase64(concatBytes(seed, publicKey)) };
}

/** The seed in a key file of either kind. Throws when others can read the file, or when it holds no ed25519 key. */
export function readKeyFile(path: string): Uint8Array {
  const { priv_key, pub_key } = readKeys(path);
  if (priv_key === undefined && pub_key !== undefined)
    throw nodeErrors.badKey(`${path} has no private key`, {
      hint: "start the node with --priv_validator_laddr, or restore the file",
    });
  const bytes = keyBytes(path, priv_key, PRIVATE_KEY_TYPE);
  const seed = bytes.subarray(0, SEED_BYTES);
  if (equalBytes(ed25519PublicKey(seed), bytes.subarray(SEED_BYTES))) return seed;
  throw damaged(path);
}

/** The public key in a validator's key file, from which a remote signer may have taken the private one. */
export function readPublicKey(path: string): Uint8Array {
  const { priv_key, pub_key } = readKeys(path);
  if (priv_key !== undefined) return ed25519PublicKey(readKeyFile(path));
  return keyBytes(path, pub_key, PUBLIC_KEY_TYPE);
}

/** The text of a JSON error would show a part of the file. */
function damaged(path: string): Error {
  return nodeErrors.badKey(path, { hint: "restore the file from a backup" });
}

function readKeys(path: string): { readonly priv_key?: unknown; readonly pub_key?: unknown } {
  if (!existsSync(path)) throw nodeErrors.badKey(`there is no ${path}`, { hint: "run svc init, or restore the file" });
  if ((statSync(path).mode & 0o077) !== 0) throw nodeErrors.openKey(path, { hint: `run chmod 600 ${shellWord(path)}` });
  try {
    return Object(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw damaged(path);
  }
}

const KEY_BYTES = { [PRIVATE_KEY_TYPE]: 64, [PUBLIC_KEY_TYPE]: 32 };

function keyBytes(path: string, key: unknown, type: keyof typeof KEY_BYTES): Uint8Array {
  try {
    const { type: given, value } = Object(key);
    const bytes = fromBase64(value);
    if (given === type && bytes.length === KEY_BYTES[type]) return bytes;
  } catch {
    // As below.
  }
  throw damaged(path);
}
