import { KeyObject, type webcrypto } from "node:crypto";
import { isIP } from "node:net";
import { fromHex } from "../../util/index.ts";
import { encodePem } from "../der.ts";
import { CERTIFICATE_BLOCK, PUBLIC_KEY_BLOCK } from "./certificate.ts";

/** Contents of a certificate. `serial` is the time of creation in nanoseconds since 1970; times are milliseconds. */
export interface CertificateRequest {
  /** Account address (bech32), the common name. */
  readonly address: string;
  readonly serial: bigint;
  readonly notBefore: number;
  readonly notAfter: number;
  /** DNS names and IP addresses of a server; empty for a client. */
  readonly hosts: readonly string[];
}

/** A new certificate: both published PEM blocks and its private key, encrypted. */
export interface NewCertificate {
  readonly certificate: string;
  readonly publicKey: string;
  /** PKCS #8, PBES2 with AES-256-CBC. */
  readonly encryptedKey: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** Subject attribute that carries the version of this certificate form. */
const VERSION_OID = "2.23.133.2.6";
const VERSION = "v0.0.1";
/** Serial numbers have at most 20 octets (RFC 5280 section 4.1.2.2). */
const MAX_SERIAL = 1n << 159n;

/** Creates a P-256 key and a self-signed certificate for an account, for TLS with providers. */
export async function createCertificate(
  request: CertificateRequest,
  passphrase: string | Uint8Array,
): Promise<NewCertificate> {
  checkRequest(request);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const [x509, spki] = await Promise.all([loadX509(), crypto.subtle.exportKey("spki", keys.publicKey)]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialHex(request.serial),
    name: subject(request.address),
    notBefore: new Date(request.notBefore),
    notAfter: new Date(request.notAfter),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: extensions(x509, request.hosts),
  });
  return {
    certificate: encodePem(CERTIFICATE_BLOCK, new Uint8Array(certificate.rawData)),
    publicKey: encodePem(PUBLIC_KEY_BLOCK, new Uint8Array(spki)),
    encryptedKey: encryptKey(keys.privateKey, passphrase),
  };
}

type X509 = typeof import("@peculiar/x509");

async function loadX509(): Promise<X509> {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

function encryptKey(key: webcrypto.CryptoKey, passphrase: string | Uint8Array): string {
  return KeyObject.from(key)
    .export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: Buffer.from(passphrase) })
    .toString();
}

function subject(address: string): Record<string, string[]>[] {
  return [{ CN: [address] }, { [VERSION_OID]: [VERSION] }];
}

/** Only ECDSA's own usage is set: some TLS stacks refuse a key whose usages do not fit its algorithm. */
function extensions(x509: X509, hosts: readonly string[]) {
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
  const usages = hosts.length === 0 ? [clientAuth] : [clientAuth, serverAuth];
  const names = hosts.map((host) => ({ type: isIP(host) === 0 ? ("dns" as const) : ("ip" as const), value: host }));
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension(usages),
    ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
  ];
}

/** An even number of digits, with a zero byte in front where the number would read as negative. */
function serialHex(serial: bigint): string {
  const hex = serial.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return (fromHex(even)[0] ?? 0) >= 0x80 ? `00${even}` : even;
}

function checkRequest(request: CertificateRequest): void {
  if (request.serial <= 0n || request.serial >= MAX_SERIAL) throw new Error("certificate: serial number out of range");
  if (request.notAfter <= request.notBefore) throw new Error("certificate: ends before it begins");
  for (const host of request.hosts) {
    if (isIP(host) === 0 && !isDnsName(host)) {
      throw new Error(`certificate: "${host.slice(0, 80)}" is neither a host name nor an IP address`);
    }
  }
}

function isDnsName(name: string): boolean {
  return (
    name.length <= 253 &&
    /^(\*\.)?([a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?$/.test(
      name,
    )
  );
}
