/** Contents of account certificates, and making them. */
export * from "./certificate.ts";
export { type CertificateRequest, createCertificate, type NewCertificate } from "./create.ts";
