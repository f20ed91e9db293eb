/** Bounds of host names: what one tenant may take, and how long the DNS may take. */
export const HOST_LIMITS = {
  /** Names of one lease: each may cost a certificate, and its proof two DNS queries. */
  perLease: 100,
  /** Reserved names of all owners; the owner with the most loses its oldest first. */
  resting: 10_000,
  /** Milliseconds for all queries about one name. */
  proofMs: 5_000,
  /** Simultaneous checks of names: of one manifest, of one owner, and of all tenants. */
  together: 4,
  ownerLookups: 8,
  lookups: 512,
  /** Names that are checked for one owner at once, and refilled per second. */
  ownerBurst: 200,
  ownerPerSecond: 1,
  /** Records read per name. */
  records: 64,
} as const;
