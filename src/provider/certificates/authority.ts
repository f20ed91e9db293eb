import { randomBytes, webcrypto } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createFile, errorText, makePrivateDirectory, readFileText, replaceFile } from "../../util/index.ts";
import type { HostCertificateText, Issuer } from "./issuer.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** Clients refuse certificates of longer than 398 days; these are renewed long before. */
const HOST_DAYS = 90;
/** Clocks of clients may be behind. */
const BEFORE_MS = 3_600_000;
const SERIAL_BYTES = 16;
const MAX_FILE = 64 << 10;
const NAME = "svc local authority";

/** The files of an authority in its folder. */
export const AUTHORITY = { certificate: "ca.crt", key: "ca.key" } as const;

type X509 = typeof import("@peculiar/x509");

interface Opened {
  readonly x509: X509;
  readonly certificate: InstanceType<X509["X509Certificate"]>;
  readonly key: webcrypto.CryptoKey;
}

/**
 * An authority of this machine's own, for networks that no public authority reaches. It is made in its folder if there
 * is none. Rejects with one sentence if there is one that cannot be used.
 */
export async function openAuthority(folder: string, now: () => number = Date.now): Promise<Issuer> {
  const paths = { certificate: join(folder, AUTHORITY.certificate), key: join(folder, AUTHORITY.key) };
  const x509 = await loadX509();
  if (!existsSync(paths.certificate) && !existsSync(paths.key)) await makeAuthority(x509, folder, now());
  const opened = await readAuthority(x509, paths);
  if (opened.certificate.notAfter.getTime() <= now()) {
    throw new Error(
      `the certificate of the authority ${paths.certificate} has expired: remove ${folder} to make another`,
    );
  }
  return { isPrompt: true, issue: (host) => sign(opened, host, now()) };
}

async function loadX509(): Promise<X509> {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

async function makeAuthority(x509: X509, folder: string, now: number): Promise<void> {
  makePrivateDirectory(folder);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [NAME] }],
    notBefore: new Date(now - BEFORE_MS),
    notAfter: new Date(now + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  // The key first: an authority without its certificate is noticed at the next start.
  createFile(join(folder, AUTHORITY.key), await keyText(keys.privateKey));
  replaceFile(join(folder, AUTHORITY.certificate), `${certificate.toString("pem")}\n`, 0o644);
}

async function readAuthority(x509: X509, paths: { certificate: string; key: string }): Promise<Opened> {
  try {
    const certificate = new x509.X509Certificate(readFileText(paths.certificate, { maxBytes: MAX_FILE }));
    const pem = readFileText(paths.key, { maxBytes: MAX_FILE });
    const key = await webcrypto.subtle.importKey("pkcs8", x509.PemConverter.decodeFirst(pem), ALGORITHM, true, [
      "sign",
    ]);
    await checkPair(certificate, key);
    return { x509, certificate, key };
  } catch (cause) {
    const files = `${paths.certificate} and ${paths.key}`;
    throw new Error(`${files} are not an authority's certificate and key (ECDSA P-256): ${errorText(cause)}`, {
      cause,
    });
  }
}

async function checkPair(certificate: Opened["certificate"], key: webcrypto.CryptoKey): Promise<void> {
  const text = randomBytes(SERIAL_BYTES);
  const signature = await webcrypto.subtle.sign(ALGORITHM, key, text);
  const publicKey = await certificate.publicKey.export(ALGORITHM, ["verify"]);
  if (!(await webcrypto.subtle.verify(ALGORITHM, publicKey, signature, text))) {
    throw new Error("the key is that of another certificate");
  }
}

async function sign({ x509, certificate, key }: Opened, host: string, now: number): Promise<HostCertificateText> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const end = Math.min(now + HOST_DAYS * DAY_MS, certificate.notAfter.getTime());
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    // Names of more than 64 characters fit in no common name; clients read the alternative name alone.
    subject: [],
    issuer: certificate.subject,
    notBefore: new Date(now - BEFORE_MS),
    notAfter: new Date(end),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: key,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      // Critical, because the subject is empty (RFC 5280 section 4.2.1.6).
      new x509.SubjectAlternativeNameExtension([{ type: "dns", value: host }], true),
      await x509.AuthorityKeyIdentifierExtension.create(certificate.publicKey),
    ],
  });
  return { chain: `${leaf.toString("pem")}\n`, key: await keyText(keys.privateKey) };
}

async function keyText(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)).toString("base64");
  const lines = der.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}

/** Positive, and without zeros in front. */
function newSerial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString("hex");
}
