/** Bytes of a manifest or index: registries take no larger ones. */
export const MAX_MANIFEST = 4 << 20;
/** Bytes of the configuration of an image. */
export const MAX_CONFIG = 1 << 20;
/** Bytes of an answer with a token. */
export const MAX_TOKEN = 64 << 10;
/** Layers that engines can stack. */
export const MAX_LAYERS = 127;
/** Volumes that an image may declare: each is a folder and a mount. */
export const MAX_VOLUMES = 64;
/** The same of all replicas of a lease: each takes one of the engine's locks, and Podman has 2,048 for everybody. */
export const LEASE_VOLUMES = 256;
/** Entries of an index that are looked at. */
export const MAX_PLATFORMS = 512;
export const MAX_REDIRECTS = 5;
/** Addresses tried for one name. */
export const MAX_ADDRESSES = 4;
/** A connection that has delivered no byte for this long is closed. Milliseconds. */
export const SILENCE_MS = 30_000;
/** Least bytes of a download in each such time; a slower one would hold its place for too little. */
export const PACE = { bytes: 1 << 20, everyMs: 60_000 } as const;
/**
 * Pulls at once. A pull that waits for a slow registry costs next to nothing except a place: without these limits, a
 * few tenants whose registries send a byte now and then would keep all others from deploying.
 */
export const PULLS = { each: 4, all: 64 } as const;
/** Layers of one image that are fetched at once. */
export const PARALLEL_LAYERS = 3;
/** Disk that a file of a layer takes beside its bytes: its inode and the rest of its last block. */
export const BYTES_PER_ENTRY = 4096n;
/** Bytes of a header with a file's long name or further attributes: the limit of engines. */
export const MAX_EXTENSION = 1 << 20;
/** Bytes that an image may take for a lease with less storage than that. */
export const LEASE_IMAGE = 4n << 30n;
