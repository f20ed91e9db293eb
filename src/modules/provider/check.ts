import { checkAddress } from "../../runtime/index.ts";
import { type AttributeLimits, attributeFault, MOST_ATTRIBUTES } from "../../sdl/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { Provider } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { providerErrors as errors } from "../../wire/index.ts";

/** Longest texts of a provider's record. */
const MAX_URI = 512;
const MAX_INFO = 256;

/*
 * Addresses are read by these patterns, not by a URL library: libraries differ between versions, and all nodes must
 * accept the same. Names outside ASCII are written in their `xn--` form.
 */
const LABEL = "[a-zA-Z0-9_](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?";
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:.]{2,45}\\])`;
const HOST_PORT = `${HOST}(?::(?<port>[1-9][0-9]{0,4}))?`;
const HOST_URI = new RegExp(`^https://${HOST_PORT}$`);
const WEBSITE = new RegExp(`^(?:https?://)?${HOST_PORT}(?:[/?#][!-~]*)?$`);
const EMAIL = new RegExp(`^[!-?A-~]{1,64}@${HOST}$`);
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\//;
const MAX_PORT = 65_535n;

/** Checks what a provider says of itself. Throws the numbered errors of the module. */
export function checkProvider({
  owner,
  hostUri,
  attributes,
  info,
}: Pick<Provider, "owner" | "hostUri" | "attributes" | "info">): void {
  checkAddress("owner", owner, errors.invalidAddress);
  checkHostUri(hostUri);
  checkAttributes(attributes, MOST_ATTRIBUTES);
  const { email = "", website = "" } = info ?? {};
  if (email !== "" && !isEmail(email)) throw errors.invalidEmail(quote(email));
  if (website !== "" && !isWebsite(website)) throw errors.invalidWebsite(quote(website));
}

export function checkAttributes(attributes: readonly Attribute[], limits: AttributeLimits): void {
  const fault = attributeFault(attributes, "offered", limits);
  if (fault !== undefined) throw errors.attributes(fault);
}

/** Scheme exactly https, a host, perhaps a port, nothing else. */
export function isHostUri(text: string): boolean {
  return fits(text, HOST_URI, MAX_URI);
}

export function isEmail(text: string): boolean {
  return fits(text, EMAIL, MAX_INFO);
}

/** A host with or without a scheme of the web, perhaps a port and a path. */
export function isWebsite(text: string): boolean {
  return fits(text, WEBSITE, MAX_INFO);
}

function checkHostUri(uri: string): void {
  if (!SCHEME.test(uri)) throw errors.notAbsoluteHostUri(quote(uri));
  if (!isHostUri(uri)) throw errors.invalidHostUri(quote(uri));
}

function fits(text: string, pattern: RegExp, maxLength: number): boolean {
  const match = text.length <= maxLength ? pattern.exec(text) : null;
  return match !== null && BigInt(match.groups?.port ?? "0") <= MAX_PORT;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}
