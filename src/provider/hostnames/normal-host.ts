const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
// Case is ignored by the pattern and not before it: of some letters outside of ASCII the lower case is one of ASCII.
const HOST_PATTERN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, "i");

/** Lower case, without port and final dot; undefined if it is not a host name. */
export function normalHost(text: string): string | undefined {
  const host = text.replace(/:\d{1,5}$/, "").replace(/\.$/, "");
  return host.length <= 253 && HOST_PATTERN.test(host) ? host.toLowerCase() : undefined;
}
