/** Bounds of host names: what one tenant may take, and how long the DNS may take. */
export const HOST_LIMITS = {
  /** Names of one lease: each may cost a certificate, and the proof of each asks the DNS twice. */
  perLease: 100,
  /** Reserved names, of all owners together; the owner with most of them loses the oldest first. */
  resting: 10_000,
  /** Milliseconds for all queries about one name. */
  proofMs: 5_000,
  /** Names that are checked at once: of one manifest, of one owner, and of all tenants together. */
  together: 4,
  ownerLookups: 8,
  lookups: 32,
  /** Checks that wait for their place, of all tenants together. */
  waiting: 2_000,
  /** A check that takes longer than so many milliseconds goes on beside as many others as these, of all owners and of one. */
  quickMs: 1_000,
  slowLookups: 32,
  ownerSlowLookups: 4,
  /** Owners whose name servers are known to be silent. */
  rememberedOwners: 5_000,
  /** Names that are checked for one owner at once, and refilled per second. */
  ownerBurst: 200,
  ownerPerSecond: 1,
  /** Records of one name that are read. */
  records: 64,
} as const;
