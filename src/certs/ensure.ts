import { type ChainClient, type ChainQuery, marketReader } from "../client/index.ts";
import { parseCertificatePem } from "../crypto/index.ts";
import { fromUtf8, toUtf8 } from "../util/index.ts";
import { MsgCreateCertificateSchema } from "../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { type Any, packAny } from "../wire/index.ts";
import { chainRecord } from "./chain.ts";
import {
  certificatePath,
  createCertificateFile,
  publicKeyPem,
  readCertificateFile,
  writeCertificateFile,
} from "./file.ts";
import { type CertificateSigner, certificatePassphrase, makeCertificate } from "./issue.ts";
import { planCertificate } from "./plan.ts";

/** The message that publishes an account's certificate. */
export function publishMessage(
  owner: string,
  { certificate, publicKey }: { certificate: string; publicKey: string },
): Any {
  return packAny(MsgCreateCertificateSchema, { owner, cert: toUtf8(certificate), pubkey: toUtf8(publicKey) });
}

export interface EnsureOptions {
  /** Where the own certificate is looked up. */
  readonly chain: { readonly query: ChainQuery };
  readonly home: string;
  readonly signer: CertificateSigner;
  /** Receives one sentence about the action and its reason. */
  readonly say?: (text: string) => void;
}

/**
 * The message that publishes a client certificate whose key is in the home; undefined if the tenant already has one. A
 * new certificate is stored at once: if its transaction fails, the next run publishes it. Two commands that make the
 * first certificate at the same time publish the same one.
 */
export async function ensureClientCertificate(options: EnsureOptions): Promise<Any | undefined> {
  const { chain, home, signer, say } = options;
  const { address } = signer;
  const path = certificatePath(home, address, "client");
  const file = await readCertificateFile(path);
  const record = file === undefined ? "missing" : await chainRecord(chain, address, file);
  const plan = planCertificate({ address, file, record, hosts: [], replace: false, now: Date.now() / 1000 });
  if (plan.kind === "keep") return undefined;
  say?.(plan.say);
  if (plan.kind === "publish") {
    return publishMessage(address, { ...plan.file, publicKey: publicKeyPem(plan.file.details) });
  }
  const made = await makeCertificate({ address, hosts: [] }, await certificatePassphrase(signer));
  if (file !== undefined) await writeCertificateFile(path, made);
  else if (!(await createCertificateFile(path, made))) return ensureClientCertificate(options);
  return publishMessage(address, made);
}

/** Whether the chain has a certificate of the account that is neither revoked nor expired. */
export async function hasValidCertificate(chain: ChainClient, owner: string): Promise<boolean> {
  const found = await marketReader(chain.query).validCertificates(owner);
  return found.some(({ pem }) => !isExpired(fromUtf8(pem)));
}

function isExpired(pem: string): boolean {
  return parseCertificatePem(pem).notAfter <= Date.now() / 1000;
}
