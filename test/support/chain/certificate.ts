import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { encodePem } from "../../../src/crypto/index.ts";
import { concatBytes, fromHex, toUtf8 } from "../../../src/util/index.ts";

/** Fields of a forged certificate; everything else is correct. */
export interface ForgedCertificate {
  /** Common name of subject and issuer. */
  readonly name: string;
  /** Content octets of the serial number in hex, so that zero and negative numbers can be written. */
  readonly serial?: string;
  /** The key in the certificate; a new P-256 key unless given. */
  readonly key?: KeyObject;
  /** 32 bytes of a private key instead of the two above; the same ones give the same certificate. */
  readonly secret?: Uint8Array;
  /** The key that signs; the certificate's own unless given. */
  readonly signer?: KeyObject;
  /** Bytes of an unknown extension, for large certificates; none unless given. */
  readonly padding?: number;
}

const ECDSA_WITH_SHA256 = "06082a8648ce3d040302";
const COMMON_NAME = "0603550403";

/** PEM blocks of an X.509 certificate that no decent program would make, and of its public key. */
export function forgeCertificate(forged: ForgedCertificate): {
  readonly cert: Uint8Array;
  readonly pubkey: Uint8Array;
} {
  const { name, serial = "05", secret, padding = 0 } = forged;
  const { key = secret === undefined ? newP256Key() : p256Key(secret) } = forged;
  const { signer = key } = forged;
  const algorithm = der(0x30, fromHex(ECDSA_WITH_SHA256));
  const subject = der(0x30, der(0x31, der(0x30, fromHex(COMMON_NAME), der(0x0c, toUtf8(name)))));
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  const signedPart = der(
    0x30,
    der(0xa0, fromHex("020102")),
    der(0x02, fromHex(serial)),
    algorithm,
    subject,
    der(0x30, time("260101000000Z"), time("360101000000Z")),
    subject,
    spki,
    ...(padding > 0 ? [extension(padding)] : []),
  );
  const signature =
    secret === undefined ? sign("sha256", signedPart, signer) : p256.sign(signedPart, secret, { format: "der" });
  const certificate = der(0x30, signedPart, algorithm, der(0x03, Uint8Array.of(0), signature));
  return { cert: pem("CERTIFICATE", certificate), pubkey: pem("EC PUBLIC KEY", spki) };
}

export function newP256Key(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

function p256Key(secret: Uint8Array): KeyObject {
  const point = p256.getPublicKey(secret, false);
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  const coordinates = { x: text(point.slice(1, 33)), y: text(point.slice(33)) };
  return createPrivateKey({ key: { kty: "EC", crv: "P-256", ...coordinates, d: text(secret) }, format: "jwk" });
}

function pem(type: string, bytes: Uint8Array): Uint8Array {
  return toUtf8(encodePem(type, bytes));
}

function time(text: string): Uint8Array {
  return der(0x17, toUtf8(text));
}

/** The part of a certificate that holds extensions, with one of a private number. */
function extension(padding: number): Uint8Array {
  const value = der(0x04, new Uint8Array(padding));
  return der(0xa3, der(0x30, der(0x30, fromHex("06032a0304"), value)));
}

/** An element with a tag of one byte and at most 65,535 bytes of content (X.690). */
function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(...parts);
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return concatBytes(Uint8Array.of(tag, ...(length < 0x80 ? [length] : long)), content);
}
