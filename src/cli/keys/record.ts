import { AnySchema } from "@bufbuild/protobuf/wkt";
import { BECH32_PREFIX } from "../../util/index.ts";
import {
  type AddressKind,
  encodeAddress,
  encodePublicKey,
  type PublicKey,
  type PublicKeyKind,
  printJson,
  publicKeyAddress,
  publicKeyToAny,
  toJson,
} from "../../wire/index.ts";
import { usageError } from "../errors.ts";

/** A key as the `keys` commands print it: always all seven fields; the phrase is never among them. */
export interface KeyOutput {
  readonly name: string;
  readonly type: string;
  readonly address: string;
  readonly pubkey: string;
  readonly mnemonic: "";
  readonly threshold: number;
  readonly pubkeys: readonly MemberOutput[];
}

interface MemberOutput {
  readonly address: string;
  readonly pubkey: string;
  readonly weight: number;
}

/** How public keys are written: as bech32 text, or in the JSON form of newer tools. */
export type PublicKeyFormat = "bech32" | "json";

/** How keys are shown: prefix of the network, kind of bech32 text (`--bech`), form of public keys. */
export interface KeyStyle {
  readonly prefix?: string;
  readonly bech?: string;
  readonly pubkeyFormat?: PublicKeyFormat;
}

const KINDS: ReadonlyMap<string, readonly [AddressKind, PublicKeyKind]> = new Map([
  ["acc", ["account", "accountPub"]],
  ["val", ["valoper", "valoperPub"]],
  ["cons", ["valcons", "valconsPub"]],
]);

/** Address and public key as texts. */
export function keyTexts(publicKey: PublicKey, style: KeyStyle = {}): { address: string; pubkey: string } {
  const { prefix = BECH32_PREFIX, bech = "acc", pubkeyFormat = "bech32" } = style;
  const kinds = KINDS.get(bech);
  if (kinds === undefined) throw usageError(`invalid Bech32 prefix encoding provided: ${bech}`);
  return {
    address: encodeAddress(publicKeyAddress(publicKey), kinds[0], prefix),
    pubkey: pubkeyFormat === "json" ? publicKeyJson(publicKey) : encodePublicKey(publicKey, kinds[1], prefix),
  };
}

/** `{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"..."}`, in the spelling that all tools of the ecosystem read. */
function publicKeyJson(publicKey: PublicKey): string {
  return printJson(toJson(AnySchema, publicKeyToAny(publicKey, "cosmos")));
}

export function keyOutput(key: { name: string; type: string; publicKey: PublicKey }, style: KeyStyle = {}): KeyOutput {
  const { name, type, publicKey } = key;
  const members = publicKey.type === "multisig" ? publicKey.keys : [];
  return {
    name,
    type,
    ...keyTexts(publicKey, style),
    mnemonic: "",
    threshold: publicKey.type === "multisig" ? publicKey.threshold : 0,
    pubkeys: members.map((member) => ({ ...keyTexts(member, style), weight: 1 })),
  };
}

/** The keys as a YAML list, also for a single one, with the empty line that follows it. */
export function keysYaml(keys: readonly KeyOutput[]): string {
  return keys.length === 0 ? "[]\n\n" : `${keys.map(keyYaml).join("")}\n`;
}

function keyYaml(key: KeyOutput): string {
  const members = key.pubkeys.map(
    ({ address, pubkey, weight }) =>
      `\n  - address: ${address}\n    pubkey: ${keyScalar(pubkey)}\n    weight: ${weight}`,
  );
  const lines = [
    `- name: ${yamlText(key.name)}`,
    `type: ${key.type}`,
    `address: ${key.address}`,
    `pubkey: ${keyScalar(key.pubkey)}`,
    'mnemonic: ""',
    `threshold: ${key.threshold}`,
    `pubkeys:${members.length === 0 ? " []" : members.join("")}`,
  ];
  return `${lines.join("\n  ")}\n`;
}

/** The JSON of a key has no single quote in it. */
function keyScalar(pubkey: string): string {
  return pubkey.startsWith("{") ? `'${pubkey}'` : pubkey;
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const RESERVED = /^(true|false|yes|no|on|off|null|y|n)$/i;

/** A text as a YAML scalar that reads back as that text. JSON strings are YAML strings. */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text);
}
