/**
 * `svc/gateway`: the gateway of a provider, for tenants, in Node.js and in browsers; and in Node.js alone the certificates
 * that both present.
 */
export {
  type AccountCertificate,
  type CertificateRequest,
  createCertificate,
  isSelfSigned,
  type NewCertificate,
  parseCertificatePem,
  parsePublicKeyPem,
} from "../crypto/index.ts";
export * from "./gateway.browser.ts";
