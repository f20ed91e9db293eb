import { createPrivateKey } from "node:crypto";
import type { GatewayCredential, TxSigner } from "../client/index.ts";
import { createCertificate, type NewCertificate } from "../crypto/index.ts";
import { commandError, toBase64, toUtf8 } from "../util/index.ts";
import { decodeAddress, SignMode } from "../wire/index.ts";
import {
  type CertificateFile,
  type CertificateKind,
  certificatePath,
  readCertificateFile,
  writeCertificateFile,
} from "./file.ts";

/** The account key, which opens the keys of the account's certificates. */
export type CertificateSigner = Pick<TxSigner, "address" | "sign">;

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Milliseconds since 1970. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface CertificateRequestOptions {
  readonly address: string;
  /** DNS names and IP addresses of a server; empty for a client. */
  readonly hosts: readonly string[];
  /** Default: one year from now. */
  readonly validity?: Validity;
}

/**
 * The passphrase of an account's certificate keys: the account key's signature over the bytes of its address, in
 * base64. Signatures are deterministic, so the holder of the account key can always open them.
 */
export async function certificatePassphrase(signer: CertificateSigner): Promise<string> {
  return toBase64(await signer.sign(decodeAddress(signer.address), SignMode.DIRECT));
}

/** Makes a key and a certificate for an account. Nothing is written. */
export function makeCertificate(options: CertificateRequestOptions, passphrase: string): Promise<NewCertificate> {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const { address, hosts, validity = { notBefore: now, notAfter: now + YEAR_MS } } = options;
  const serial = BigInt(Date.now()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);
  return createCertificate({ address, serial, hosts, ...validity }, passphrase);
}

export interface IssueOptions {
  readonly home: string;
  readonly kind: CertificateKind;
  readonly signer: CertificateSigner;
  readonly hosts?: readonly string[];
}

/** The contents of a `MsgCreateCertificate`: both PEM texts as bytes. */
export interface PublishedCertificate {
  readonly cert: Uint8Array;
  readonly pubkey: Uint8Array;
}

/** Makes a certificate, stores its file in the home (replacing an older one) and returns what to publish. */
export async function issueCertificate({
  home,
  kind,
  signer,
  hosts = [],
}: IssueOptions): Promise<PublishedCertificate> {
  const { address } = signer;
  const made = await makeCertificate({ address, hosts }, await certificatePassphrase(signer));
  await writeCertificateFile(certificatePath(home, address, kind), made);
  return { cert: toUtf8(made.certificate), pubkey: toUtf8(made.publicKey) };
}

/** A certificate and its decrypted key, both in PEM, for TLS. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Decrypts the key of a certificate file. */
export function unlockCertificate(file: CertificateFile, passphrase: string): TlsIdentity {
  try {
    const key = createPrivateKey({ key: file.encryptedKey, format: "pem", passphrase });
    return { certificate: file.certificate, privateKey: key.export({ format: "pem", type: "pkcs8" }).toString() };
  } catch (cause) {
    const hint = "it was made with another key or passphrase: make a new one with svc tx cert create client|server";
    throw commandError(`certificate file ${file.path}: its private key cannot be decrypted`, { hint, cause });
  }
}

/** The stored certificate of an account, ready for TLS. Throws an error that names the command that makes one. */
export async function openCertificate({ home, kind, signer }: Omit<IssueOptions, "hosts">): Promise<TlsIdentity> {
  const path = certificatePath(home, signer.address, kind);
  const file = await readCertificateFile(path);
  if (file === undefined) {
    const command = `svc tx cert create ${kind === "client" ? "client" : "server <host>"}`;
    const hint = `make one with: ${command} --from <key>`;
    throw commandError(`there is no ${kind} certificate of ${signer.address} in ${path}`, { hint });
  }
  return unlockCertificate(file, await certificatePassphrase(signer));
}

/**
 * How a tenant authenticates to gateways: with the client certificate if the home has one, otherwise with tokens signed
 * by the account's key.
 */
export async function tenantCredential({
  home,
  signer,
}: {
  readonly home: string;
  readonly signer: TxSigner;
}): Promise<GatewayCredential> {
  const { address } = signer;
  const file = await readCertificateFile(certificatePath(home, address, "client"));
  if (file !== undefined) return { kind: "certificate", ...(await openCertificate({ home, kind: "client", signer })) };
  return { kind: "token", account: address, sign: (bytes) => signer.sign(bytes, SignMode.DIRECT) };
}
