import { deriveKey, type KdfRequest } from "./sealed.ts";

/** Derives the key of a passphrase, so that the page stays usable meanwhile. One request is one worker. */
addEventListener("message", ({ data }: MessageEvent<KdfRequest>) => postMessage(deriveKey(data)));
