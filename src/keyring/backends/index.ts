/**
 * Storage of keys. Back ends of other programs (`os.ts`, `kwallet.ts`, `pass.ts`) are imported on demand: most commands
 * need none.
 */
export { FileItems, KEYRING_KDFS, type KeyringKdf } from "./file-items.ts";
export { LazyItems, MemoryItems } from "./items.ts";
export type { ServiceContext } from "./session.ts";
