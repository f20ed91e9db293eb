const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const HOST_PATTERN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** Lower case, without port and final dot; undefined if it is not a host name. */
export function normalHost(text: string): string | undefined {
  const host = text
    .toLowerCase()
    .replace(/:\d{1,5}$/, "")
    .replace(/\.$/, "");
  return host.length <= 253 && HOST_PATTERN.test(host) ? host : undefined;
}
