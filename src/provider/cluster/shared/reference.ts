import { clusterErrors } from "../contract/index.ts";

/** An image name, fully qualified. */
export interface ImageReference {
  /** For example `docker.io/library/nginx:1.25`. */
  readonly full: string;
  /** Host (and port) of the registry. */
  readonly registry: string;
  /** Names an image that exists only on this cluster. */
  readonly local: boolean;
  /** Names its content by digest. */
  readonly pinned: boolean;
}

const PATH_PATTERN = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const TAG_PATTERN = /^\w[\w.-]{0,127}$/;
const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;
const HOST_PATTERN = /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?$/;

/** Reads an image name in the way of the container tools: no registry means Docker Hub, no tag means `latest`. */
export function parseReference(image: string): ImageReference {
  const [name = "", digest] = split(image, "@");
  const { host, rest } = splitHost(name);
  const [path = "", tag] = split(rest, ":");
  const valid =
    HOST_PATTERN.test(host) &&
    PATH_PATTERN.test(path) &&
    (tag === undefined || TAG_PATTERN.test(tag)) &&
    (digest === undefined || DIGEST_PATTERN.test(digest));
  if (!valid) {
    throw clusterErrors.unsupported(
      `image "${image.slice(0, 200)}" is not an image name; write for example docker.io/library/nginx:1.25`,
    );
  }
  const full = `${host}/${host === "docker.io" && !path.includes("/") ? `library/${path}` : path}`;
  const suffix = digest === undefined ? `:${tag ?? "latest"}` : `@${digest}`;
  return { full: `${full}${suffix}`, registry: host, local: host === "localhost", pinned: digest !== undefined };
}

/** Whether credentials for `host` (in people's spelling) belong to the registry. */
export function isRegistryHost(host: string, registry: string): boolean {
  const plain = host
    .replace(/^https?:\/\//, "")
    .replace(/\/.*$/, "")
    .toLowerCase();
  const hub = ["docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"];
  return plain === registry.toLowerCase() || (registry === "docker.io" && hub.includes(plain));
}

function split(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function splitHost(name: string): { host: string; rest: string } {
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const isHost = first === "localhost" || first.includes(".") || first.includes(":");
  if (!isHost) return { host: "docker.io", rest: name };
  const host = first === "index.docker.io" ? "docker.io" : first;
  return { host, rest: name.slice(slash + 1) };
}
