/** Account certificates: making, keeping and publishing them. */
export { chainRecord } from "./chain.ts";
export { ensureClientCertificate, hasValidCertificate, publishMessage } from "./ensure.ts";
export {
  type CertificateFile,
  type CertificateKind,
  certificatePath,
  publicKeyPem,
  readCertificateFile,
  writeCertificateFile,
} from "./file.ts";
export {
  certificatePassphrase,
  issueCertificate,
  makeCertificate,
  openCertificate,
  type TlsIdentity,
  tenantCredential,
  type Validity,
} from "./issue.ts";
export { type CertificatePlan, planCertificate } from "./plan.ts";
