import { BlockList, isIP } from "node:net";

/** First bytes of the header of the PROXY protocol, versions 1 and 2 (haproxy.org, doc/proxy-protocol.txt). */
const V1 = Buffer.from("PROXY ");
const V2 = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
/** Longest header of version 1, with its line end. */
const MAX_V1_BYTES = 107;
/** Fixed part of version 2: signature, command, family and length. */
const V2_HEAD_BYTES = 16;
/** Addresses and extensions of version 2 that are accepted. */
const MAX_V2_BYTES = 512;

/** A header that has been read: bytes it took, and the client's address; undefined for the proxy's own health checks. */
export interface ProxyHeader {
  readonly bytes: number;
  readonly address: string | undefined;
}

/** Reads the header at the start of a connection; "more" if it is incomplete, undefined if these bytes are no header. */
export function readProxyHeader(data: Buffer): ProxyHeader | "more" | undefined {
  if (isStart(data, V2)) return data.length < V2_HEAD_BYTES ? "more" : readV2(data);
  if (isStart(data, V1)) return readV1(data);
  return undefined;
}

/** Whether the data begins with these bytes, as far as it goes. */
function isStart(data: Buffer, start: Buffer): boolean {
  const length = Math.min(data.length, start.length);
  return data.subarray(0, length).equals(start.subarray(0, length));
}

function readV1(data: Buffer): ProxyHeader | "more" | undefined {
  const end = data.subarray(0, MAX_V1_BYTES).indexOf("\r\n");
  if (end < 0) return data.length < MAX_V1_BYTES ? "more" : undefined;
  const [, family, source = ""] = data.toString("latin1", 0, end).split(" ");
  const bytes = end + 2;
  if (family === "UNKNOWN") return { bytes, address: undefined };
  const version = family === "TCP4" ? 4 : family === "TCP6" ? 6 : undefined;
  return isIP(source) === version ? { bytes, address: source } : undefined;
}

function readV2(data: Buffer): ProxyHeader | "more" | undefined {
  const [command = 0, family = 0] = data.subarray(12, 14);
  const length = data.readUInt16BE(14);
  if (command >> 4 !== 2 || length > MAX_V2_BYTES) return undefined;
  const bytes = V2_HEAD_BYTES + length;
  if (data.length < bytes) return "more";
  // Command 0 is a connection of the proxy itself.
  const isLocal = (command & 0xf) === 0;
  return { bytes, address: isLocal ? undefined : sourceOf(family >> 4, data.subarray(V2_HEAD_BYTES, bytes)) };
}

function sourceOf(family: number, addresses: Buffer): string | undefined {
  if (family === 1 && addresses.length >= 12) return [...addresses.subarray(0, 4)].join(".");
  if (family !== 2 || addresses.length < 36) return undefined;
  return Array.from({ length: 8 }, (_, i) => addresses.readUInt16BE(2 * i).toString(16)).join(":");
}

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
