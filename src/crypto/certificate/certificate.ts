import { createPublicKey, verify } from "node:crypto";
import { concatBytes, equalBytes, fromHex, fromUtf8, toHex } from "../../util/index.ts";
import { DER, type DerElement, decodePem, derBitString, derChildren, derContent, derInteger, readDer } from "../der.ts";

/** PEM block types of the two halves of a published certificate. */
export const CERTIFICATE_BLOCK = "CERTIFICATE";
export const PUBLIC_KEY_BLOCK = "EC PUBLIC KEY";

/** SubjectPublicKeyInfo of an uncompressed P-256 point, without the 65 bytes of the point. */
const P256_SPKI_PREFIX = fromHex("3059301306072a8648ce3d020106082a8648ce3d03010703420004");
const P256_SPKI_LENGTH = 91;
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const VERSION_TAG = 0xa0;

/** The fields of an account's certificate that consensus code and peers need (X.509 v3, ECDSA P-256 with SHA-256). */
export interface AccountCertificate {
  /** Decimal text. */
  readonly serial: string;
  /** Common name of the subject: the account's address. */
  readonly commonName: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** Seconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The signed part and its signature (64 bytes R||S). */
  readonly signedPart: Uint8Array;
  readonly signature: Uint8Array;
  /** The whole certificate. */
  readonly der: Uint8Array;
}

/** Reads exactly one PEM block `CERTIFICATE`. Pure; throws one clear sentence on anything else. */
export function parseCertificatePem(pem: Uint8Array | string): AccountCertificate {
  return parseCertificate(decodePem(CERTIFICATE_BLOCK, pem));
}

/** The SubjectPublicKeyInfo (DER) of exactly one PEM block `EC PUBLIC KEY` with a P-256 key. Pure. */
export function parsePublicKeyPem(pem: Uint8Array | string): Uint8Array {
  return checkPublicKey(decodePem(PUBLIC_KEY_BLOCK, pem));
}

/** Reads a DER certificate (RFC 5280 section 4.1). Pure: uses no clock and no TLS library. */
export function parseCertificate(der: Uint8Array): AccountCertificate {
  const [signedPart, algorithm, signatureBits, ...rest] = derChildren(readDer(der));
  if (signedPart === undefined || rest.length > 0) throw new Error("certificate: not three parts");
  const fields = derChildren(signedPart);
  const [version, serial, innerAlgorithm, , validity, subject, publicKey] = fields;
  if (derInteger(derChildren(version, VERSION_TAG)[0]) !== 2n) throw new Error("certificate: not X.509 version 3");
  checkAlgorithm(algorithm);
  checkAlgorithm(innerAlgorithm);
  const [notBefore, notAfter] = derChildren(validity).map(readTime);
  if (notBefore === undefined || notAfter === undefined) throw new Error("certificate: no validity");
  return {
    serial: derInteger(serial).toString(),
    commonName: readCommonName(subject),
    publicKey: checkPublicKey(publicKey?.bytes ?? new Uint8Array()),
    notBefore,
    notAfter,
    signedPart: signedPart.bytes,
    signature: readSignature(derBitString(signatureBits)),
    der,
  };
}

/** Whether the certificate's signature was made by its own key. */
export function isSelfSigned(certificate: AccountCertificate): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(certificate.publicKey), format: "der", type: "spki" });
    return verify("sha256", certificate.signedPart, { key, dsaEncoding: "ieee-p1363" }, certificate.signature);
  } catch {
    return false;
  }
}

function checkPublicKey(spki: Uint8Array): Uint8Array {
  const prefix = spki.subarray(0, P256_SPKI_PREFIX.length);
  if (spki.length !== P256_SPKI_LENGTH || !equalBytes(prefix, P256_SPKI_PREFIX)) {
    throw new Error("public key: not an uncompressed ECDSA P-256 key");
  }
  return spki;
}

function checkAlgorithm(element: DerElement | undefined): void {
  const [oid, ...parameters] = derChildren(element);
  if (toHex(derContent(oid, DER.oid)) !== ECDSA_WITH_SHA256 || parameters.length > 0) {
    throw new Error("certificate: signature algorithm is not ECDSA with SHA-256");
  }
}

function readCommonName(subject: DerElement | undefined): string {
  const names: string[] = [];
  for (const set of derChildren(subject)) {
    for (const attribute of derChildren(set, DER.set)) {
      const [oid, value] = derChildren(attribute);
      if (toHex(derContent(oid, DER.oid)) === COMMON_NAME) names.push(readText(value));
    }
  }
  const [name, ...others] = names;
  if (name === undefined || others.length > 0)
    throw new Error("certificate: not exactly one common name in the subject");
  return name;
}

function readText(value: DerElement | undefined): string {
  if (value?.tag !== DER.utf8String && value?.tag !== DER.printableString && value?.tag !== DER.ia5String) {
    throw new Error("certificate: common name is not text");
  }
  try {
    return fromUtf8(value.content);
  } catch (cause) {
    // The decoder's own words differ between versions of Node.js, and this text enters results on the chain.
    throw new Error("certificate: common name is not UTF-8", { cause });
  }
}

/** Two-digit years below 50 are of this century (RFC 5280 section 4.1.2.5.1). */
function readTime(element: DerElement): number {
  const general = element.tag === DER.generalizedTime;
  const text = Buffer.from(derContent(element, general ? DER.generalizedTime : DER.utcTime)).toString("latin1");
  const match = (general ? /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/ : /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/).exec(
    text,
  );
  if (match === null) throw new Error("certificate: malformed time");
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const fullYear = general ? year : year < 50 ? 2000 + year : 1900 + year;
  return Date.UTC(fullYear, month - 1, day, hour, minute, second) / 1000;
}

/** ECDSA signatures in certificates are DER sequences of two integers; verification takes 32 + 32 bytes. */
function readSignature(der: Uint8Array): Uint8Array {
  const integers = derChildren(readDer(der)).map(derInteger);
  const [r, s] = integers;
  if (integers.length !== 2 || r === undefined || s === undefined || r <= 0n || s <= 0n) {
    throw new Error("certificate: malformed signature");
  }
  return concatBytes(scalarBytes(r), scalarBytes(s));
}

function scalarBytes(value: bigint): Uint8Array {
  const hex = value.toString(16);
  if (hex.length > 64) throw new Error("certificate: malformed signature");
  return fromHex(hex.padStart(64, "0"));
}
