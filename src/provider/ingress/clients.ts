import type { Server } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";

/** Connections that one address may have open at once; a browser opens six for each host name. */
export const CONNECTIONS_PER_ADDRESS = 256;
/** Up to this multiple of the limit, connections get an answer that says why; further ones are closed without one. */
const TOLD_SHARE = 2;
/** How long a connection that will be refused has for its request, in milliseconds. */
const TOLD_WITHIN = 5_000;

export interface ClientRules {
  readonly connectionsPerAddress: number;
  /** Addresses and networks whose connections are not counted: they represent many clients. */
  readonly trustedProxies: BlockList;
  /** Proxies whose word about their clients (`X-Forwarded-*`) is passed on to services. */
  readonly forwardedFrom: BlockList;
}

/** Whether the other end is one of these. */
export function isFrom(socket: Socket, networks: BlockList): boolean {
  return isTrusted(clientAddress(socket), networks);
}

/** Keeps one client from taking all connections. The result says whether a connection exceeds the limit. */
export function limitClients(server: Server, rules: ClientRules): (socket: Socket) => boolean {
  const open = new Map<string, number>();
  const refused = new WeakSet<Socket>();
  server.on("connection", (socket: Socket) => {
    const address = clientAddress(socket);
    if (isTrusted(address, rules.trustedProxies)) return;
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count <= rules.connectionsPerAddress) return;
    if (count > rules.connectionsPerAddress * TOLD_SHARE) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    socket.setTimeout(TOLD_WITHIN, () => socket.destroy());
  });
  return (socket) => refused.has(socket);
}

/** Reads addresses (`10.0.0.7`, `fd00::7`) and networks (`10.0.0.0/8`). Throws one clear sentence. */
export function parseNetworks(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) addNetwork(list, text);
  return list;
}

/** The texts that `parseNetworks` read, in normal form. */
export function networkTexts(list: BlockList): string[] {
  return list.rules.map((rule) => rule.replace(/^\w+: IPv[46] /i, "")).toReversed();
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

/** An IPv4 address looks the same on a socket for both families. */
function clientAddress({ remoteAddress = "" }: Socket): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
}

function isTrusted(address: string, networks: BlockList): boolean {
  const version = isIP(address);
  return version !== 0 && networks.check(address, version === 6 ? "ipv6" : "ipv4");
}
