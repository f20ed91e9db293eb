import { BlockList, isIP } from "node:net";

/** Reads addresses (`10.0.0.7`, `fd00::7`) and networks (`10.0.0.0/8`). Throws one clear sentence. */
export function parseNetworks(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) addNetwork(list, text);
  return list;
}

/** The texts that `parseNetworks` read, in normal form and sorted, because releases of Node.js order rules differently. */
export function networkTexts(list: BlockList): string[] {
  return list.rules.map((rule) => rule.replace(/^\w+: IPv[46] /i, "")).sort();
}

function addNetwork(list: BlockList, text: string): void {
  const [, address = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  const most = version === 6 ? 128 : 32;
  if (version === 0 || Number(bits ?? most) > most) {
    throw new Error(`"${text.slice(0, 64)}" is neither an address nor a network: write 10.0.0.7 or 10.0.0.0/8`);
  }
  const family = version === 6 ? "ipv6" : "ipv4";
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

/** The address of the other end of a connection; an IPv4 address looks the same on a socket of either family. */
export function clientAddress({ remoteAddress = "" }: { readonly remoteAddress?: string | undefined }): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}

export function isTrusted(address: string, networks: BlockList): boolean {
  const version = isIP(address);
  return version !== 0 && networks.check(address, version === 6 ? "ipv6" : "ipv4");
}

/**
 * The client of a request: the last address of `X-Forwarded-For` that is not a trusted proxy, when the connection comes from a trusted
 * proxy; else the other end of the connection.
 */
export function forwardedClient(address: string, forwardedFor: string | undefined, proxies: BlockList): string {
  const hops = (forwardedFor ?? "").split(",").map((hop) => hop.trim());
  let client = address;
  while (isTrusted(client, proxies)) {
    const hop = hops.pop();
    if (hop === undefined || isIP(hop) === 0) return client;
    client = hop;
  }
  return client;
}
