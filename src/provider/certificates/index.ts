/** Certificates for tenants' host names: who signs them, when, and which addresses they give. */
export { AUTHORITY, openAuthority } from "./authority.ts";
export { AuthorityBusy, type HostCertificateText, type Issuer } from "./issuer.ts";
export {
  type CertificateHolder,
  CertificateKeeper,
  KEEPING,
  type KeeperOptions,
  MAX_KEPT,
  OURSELVES,
} from "./keeper.ts";
export { certificateFolders, openKeeper } from "./open.ts";
export { certifiedRouter } from "./router.ts";
export type { AcmeSettings, CertificateSources } from "./settings.ts";
