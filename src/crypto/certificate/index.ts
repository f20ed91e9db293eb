/** Account certificates: what they say, and making them. */
export * from "./certificate.ts";
export { type CertificateRequest, createCertificate, type NewCertificate } from "./create.ts";
