import type { ChainClient, GatewayCredential, TxSigner } from "../../client/index.ts";
import { toUtf8 } from "../../util/index.ts";
import { MsgCreateCertificateSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { type Any, packAny, SignMode } from "../../wire/index.ts";
import { chainRecord } from "../cert/chain.ts";
import { certificatePath, publicKeyPem, readCertificateFile } from "../cert/file.ts";
import { issueCertificate, openCertificate } from "../cert/issue.ts";
import { planCertificate } from "../cert/plan.ts";

export interface TenantIdentity {
  readonly home: string;
  readonly chain: ChainClient;
  readonly signer: TxSigner;
}

/**
 * The message that publishes the tenant's client certificate, made and stored first where there is none that can be used;
 * undefined when a valid one is on the chain.
 */
export async function publishClientCertificate({ home, chain, signer }: TenantIdentity): Promise<Any | undefined> {
  const { address } = signer;
  const file = await readCertificateFile(certificatePath(home, address, "client"));
  const record = file === undefined ? "missing" : await chainRecord(chain, address, file);
  const plan = planCertificate({ address, file, record, hosts: [], replace: false, now: Date.now() / 1000 });
  if (plan.kind === "keep") return undefined;
  const published =
    plan.kind === "publish"
      ? { cert: toUtf8(plan.file.certificate), pubkey: toUtf8(publicKeyPem(plan.file.details)) }
      : await issueCertificate({ home, kind: "client", signer });
  const { cert, pubkey } = published;
  return packAny(MsgCreateCertificateSchema, {
    owner: address,
    cert: new Uint8Array(cert),
    pubkey: new Uint8Array(pubkey),
  });
}

/** The client certificate where this home has one, else tokens of the account's key. */
export async function tenantCredential({ home, signer }: TenantIdentity): Promise<GatewayCredential> {
  const { address } = signer;
  const file = await readCertificateFile(certificatePath(home, address, "client"));
  if (file !== undefined) return { kind: "certificate", ...(await openCertificate({ home, kind: "client", signer })) };
  return { kind: "token", account: address, sign: (bytes) => signer.sign(bytes, SignMode.DIRECT) };
}
