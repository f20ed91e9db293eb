/** Certificates for tenants' host names: who signs them, when, and which addresses they give. */
export { AUTHORITY, openAuthority } from "./authority.ts";
export type { HostCertificateText, Issuer } from "./issuer.ts";
export { CertificateKeeper, KEEPING, type KeeperOptions, MAX_KEPT } from "./keeper.ts";
export { type CertificateSources, certificateFolders, openKeeper } from "./open.ts";
export { certifiedRouter } from "./router.ts";
