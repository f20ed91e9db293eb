import { multisigPublicKey, type PublicKey, type SinglePublicKey, secp256k1PublicKey } from "../../wire/index.ts";
import type { DevicePath, KeyRecord } from "../types.ts";
import { type Field, type Fields, readFields, writeFields } from "./fields.ts";

/**
 * The current encoding of a record: `cosmos.crypto.keyring.v1.Record`. The type URLs inside keep the ecosystem's
 * namespace, so that its other tools open the same directory.
 */
const NAMESPACE = "/cosmos.crypto.";
const ACCEPTED = /^\/(?:cosmos|sdk)\.crypto\.([A-Za-z0-9.]+)$/;

const FIELD = { name: 1, publicKey: 2, local: 3, ledger: 4, multi: 5, offline: 6 } as const;

export function encodeRecord(record: KeyRecord): Uint8Array {
  return writeFields([
    [FIELD.name, record.name],
    [FIELD.publicKey, encodePublicKeyAny(record.publicKey)],
    encodeItem(record),
  ]);
}

/** Throws on anything that is not such a record. */
export function decodeRecord(data: Uint8Array): KeyRecord {
  const fields = readFields(data);
  const common = { name: fields.text(FIELD.name), publicKey: decodePublicKeyAny(fields.bytes(FIELD.publicKey)) };
  if (fields.has(FIELD.local))
    return { ...common, type: "local", privateKey: decodePrivateKey(fields.bytes(FIELD.local)) };
  if (fields.has(FIELD.ledger))
    return { ...common, type: "ledger", path: decodePath(readFields(fields.bytes(FIELD.ledger))) };
  if (fields.has(FIELD.multi)) return { ...common, type: "multi" };
  if (fields.has(FIELD.offline)) return { ...common, type: "offline" };
  throw new Error("record of no known kind");
}

function encodeItem(record: KeyRecord): Field {
  switch (record.type) {
    case "local":
      return [FIELD.local, writeFields([[1, encodeAny("secp256k1.PrivKey", writeFields([[1, record.privateKey]]))]])];
    case "ledger":
      return [FIELD.ledger, writeFields([[1, encodePath(record.path), "always"]])];
    default:
      return [FIELD[record.type], new Uint8Array(), "always"];
  }
}

function encodeAny(name: string, value: Uint8Array): Uint8Array {
  return writeFields([
    [1, NAMESPACE + name],
    [2, value],
  ]);
}

function decodeAny(bytes: Uint8Array): { name: string; value: Fields } {
  const fields = readFields(bytes);
  const name = ACCEPTED.exec(fields.text(1))?.[1];
  if (name === undefined) throw new Error("key of no known type");
  return { name, value: readFields(fields.bytes(2)) };
}

function encodePublicKeyAny(publicKey: PublicKey): Uint8Array {
  if (publicKey.type !== "multisig") return encodeAny(`${publicKey.type}.PubKey`, writeFields([[1, publicKey.key]]));
  const members = publicKey.keys.map((key): Field => [2, encodePublicKeyAny(key)]);
  return encodeAny("multisig.LegacyAminoPubKey", writeFields([[1, publicKey.threshold], ...members]));
}

function decodePublicKeyAny(bytes: Uint8Array): PublicKey {
  const { name, value } = decodeAny(bytes);
  if (name !== "multisig.LegacyAminoPubKey") return decodeSingle(name, value);
  const members = value.all(2).map((member) => {
    const any = decodeAny(member);
    return decodeSingle(any.name, any.value);
  });
  return multisigPublicKey(value.number(1), members);
}

function decodeSingle(name: string, value: Fields): SinglePublicKey {
  const key = value.bytes(1);
  if (name === "secp256k1.PubKey") return secp256k1PublicKey(key);
  if (name === "ed25519.PubKey" && key.length === 32) return { type: "ed25519", key };
  throw new Error("public key of no known type");
}

function decodePrivateKey(local: Uint8Array): Uint8Array {
  const { name, value } = decodeAny(readFields(local).bytes(1));
  if (name !== "secp256k1.PrivKey") throw new Error("private key of no known type");
  return value.bytes(1);
}

/** Both generations write a path with the same five numbers. */
export function encodePath(path: DevicePath): Uint8Array {
  return writeFields([
    [1, path.purpose],
    [2, path.coinType],
    [3, path.account],
    [4, path.change],
    [5, path.index],
  ]);
}

function decodePath(ledger: Fields): DevicePath {
  return readPath(readFields(ledger.bytes(1)));
}

export function readPath(fields: Fields): DevicePath {
  return {
    purpose: fields.number(1),
    coinType: fields.number(2),
    account: fields.number(3),
    change: fields.number(4) !== 0,
    index: fields.number(5),
  };
}
