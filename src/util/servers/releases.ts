import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { defineErrors, errorText, SvcError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { optional } from "../settings/parsers.ts";

/** Errors of releases, which a network publishes. */
export const releaseErrors = defineErrors("release", {
  noNetwork: [2, "the network is not named", "set SVC_NET to the address of its files, or use --net"],
  badNetwork: [3, "it is no address of a network", "it begins with https:// or http://"],
  unreadable: [4, "a file of the network cannot be read", "is the network reachable, and does it have this release?"],
  badVersion: [5, "it is no version", "versions have the form v1.2.3"],
  badSignature: [
    6,
    "the signature of the release is wrong: its files are not from the makers of svc",
    "nothing was changed; tell the operators of the network",
  ],
  otherBytes: [7, "it is not the file that was signed", "nothing was changed; try again later"],
  older: [8, "the network offers an older version", "to install it all the same, name it with --version"],
  notInstalled: [
    9,
    "this svc was not put in place by install.sh",
    "bring up to date what it came from: its package, its image, or its checkout",
  ],
  noneBefore: [10, "there is no version to return to", "svc self update --version v1.2.3 installs one of the network"],
  unusable: [11, "the version does not run here", "nothing was changed"],
  notWritten: [12, "it cannot be put in place", "nothing was changed; is there room, and may you write there?"],
  changing: [13, "another update goes on", "wait for its end; if there is none, remove this folder"],
});

const VERSION_FORM = /^v(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;
const MAX_TEXT_BYTES = 64 * 1024;
const TEXT_MS = 30_000;
/** Time from one question for a newer version to the next. */
export const VERSION_ASKED_MS = 24 * 3600_000;

/** Address of a network's files, without a slash at its end. */
export function parseNet(text: string): string {
  const { protocol = "" } = URL.canParse(text) ? new URL(text) : {};
  if (!["http:", "https:"].includes(protocol)) throw releaseErrors.badNetwork(JSON.stringify(text));
  return text.replace(/\/+$/, "");
}

/** The network that a node or a provider asks for newer versions. */
export const NET_SETTING = {
  name: "net",
  value: "<url>",
  summary: "address of the network's files, asked once a day for a newer version (default: never)",
  parse: optional(parseNet),
} as const;

/** The form in which versions are published and named: `v1.2.3`. */
export function parseVersion(text: string): string {
  if (!VERSION_FORM.test(text)) throw releaseErrors.badVersion(JSON.stringify(text.slice(0, 100)));
  return text;
}

export function isOlder(version: string, than: string): boolean {
  const [own, other] = [version, than].map((text) => parseVersion(text).slice(1).split(".").map(Number));
  const differs = (own ?? []).findIndex((part, i) => part !== other?.[i]);
  return differs >= 0 && (own?.[differs] ?? 0) < (other?.[differs] ?? 0);
}

/** The latest version that a network publishes. */
export async function latestVersion(net: string): Promise<string> {
  return parseVersion((await publishedBytes(`${net}/version.txt`)).toString("utf8").trim());
}

interface VersionWatchOptions {
  readonly net: string;
  /** The version that runs. */
  readonly version: string;
  readonly log: Logger;
}

/** Tells in the log that a network publishes a newer version, for operators who have named one. */
export class VersionWatch {
  readonly #options: VersionWatchOptions;
  #newer = false;

  constructor(options: VersionWatchOptions) {
    this.#options = options;
  }

  /** Whether a newer version was published when it was last asked for. */
  get newer(): boolean {
    return this.#newer;
  }

  /** Asks the network; an answer that does not come changes nothing. */
  async ask(): Promise<void> {
    const { net, version, log } = this.#options;
    try {
      const latest = await latestVersion(net);
      this.#newer = isOlder(version, latest);
      if (this.#newer) log.warn("a newer version is published", { version, latest, net });
    } catch (error) {
      log.debug("the network did not tell its latest version", { err: errorText(error) });
    }
  }
}

/** A short file of the network. */
export async function publishedBytes(url: string): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  try {
    for await (const part of await openPublished(url, TEXT_MS)) {
      bytes = Buffer.concat([bytes, part]);
      if (bytes.length > MAX_TEXT_BYTES) throw releaseErrors.unreadable(`${url} has more than ${MAX_TEXT_BYTES} bytes`);
    }
  } catch (error) {
    throw error instanceof SvcError ? error : releaseErrors.unreadable(`${url}: ${errorText(error)}`, { cause: error });
  }
  return bytes;
}

/** The bytes of a file of the network as they come. Throws `release/4`. */
export async function openPublished(url: string, timeoutMs: number): Promise<Readable> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw releaseErrors.unreadable(`${url}: ${errorText(cause)}`, { cause });
  });
  if (!response.ok) await response.body?.cancel();
  if (!response.ok || response.body === null) throw releaseErrors.unreadable(`${url} answers ${response.status}`);
  // Types of browsers, which the tests of the pages are checked with, have another stream of that name.
  return Readable.fromWeb(response.body as ReadableStream);
}
