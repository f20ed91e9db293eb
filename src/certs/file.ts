import { dirname, join } from "node:path";
import { type AccountCertificate, encodePem, PUBLIC_KEY_BLOCK, parseCertificatePem } from "../crypto/index.ts";
import { checkSecretFile, prepareDirectory } from "../keyring/index.ts";
import { commandError, createFile, errorText, readFileText, replaceFile } from "../util/index.ts";

/** Purpose of a certificate: a tenant's requests to providers, or a provider's gateway. */
export type CertificateKind = "client" | "server";

/** A certificate of an account with its encrypted key, as stored in the home. */
export interface CertificateFile {
  readonly path: string;
  /** PEM block `CERTIFICATE`, byte for byte as on the chain. */
  readonly certificate: string;
  /** PEM block `ENCRYPTED PRIVATE KEY` (PKCS #8, PBES2). */
  readonly encryptedKey: string;
  readonly details: AccountCertificate;
}

const BLOCKS =
  /^(-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n)(-----BEGIN ENCRYPTED PRIVATE KEY-----\n[^-]+-----END ENCRYPTED PRIVATE KEY-----\n)$/;
const MAX_BYTES = 64 * 1024;

/** `<home>/certs/<address>.client.pem`. */
export function certificatePath(home: string, address: string, kind: CertificateKind): string {
  return join(home, "certs", `${address}.${kind}.pem`);
}

/** Reads a certificate file; undefined if it does not exist. Throws if others can read it or it is damaged. */
export async function readCertificateFile(path: string): Promise<CertificateFile | undefined> {
  if (!checkSecretFile(path)) return undefined;
  const [, certificate, encryptedKey] = BLOCKS.exec(readText(path)) ?? [];
  if (certificate === undefined || encryptedKey === undefined) {
    throw damaged(path, "it does not hold a certificate and its encrypted key");
  }
  try {
    return { path, certificate, encryptedKey, details: parseCertificatePem(certificate) };
  } catch (error) {
    throw damaged(path, errorText(error));
  }
}

function readText(path: string): string {
  try {
    return readFileText(path, { maxBytes: MAX_BYTES }).replaceAll("\r\n", "\n");
  } catch (error) {
    throw damaged(path, errorText(error));
  }
}

function damaged(path: string, why: string): Error {
  const hint = "move the file away and make a new certificate: svc tx cert create client|server";
  return commandError(`certificate file ${path}: ${why}`, { hint });
}

type CertificateText = Pick<CertificateFile, "certificate" | "encryptedKey">;

/** Writes a certificate file in one step, readable only by its owner. */
export async function writeCertificateFile(
  path: string,
  { certificate, encryptedKey }: CertificateText,
): Promise<void> {
  prepareDirectory(dirname(path));
  replaceFile(path, certificate + encryptedKey);
}

/** Like `writeCertificateFile`, but false if there is a file by now. */
export async function createCertificateFile(
  path: string,
  { certificate, encryptedKey }: CertificateText,
): Promise<boolean> {
  prepareDirectory(dirname(path));
  return createFile(path, certificate + encryptedKey);
}

/** The public half of a certificate in the form that the chain accepts. */
export function publicKeyPem({ publicKey }: AccountCertificate): string {
  return encodePem(PUBLIC_KEY_BLOCK, publicKey);
}
