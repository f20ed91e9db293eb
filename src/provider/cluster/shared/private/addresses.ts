import { BlockList, isIP } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

/**
 * Where tenants must not connect: private, shared, link-local, loopback, special, benchmark, multicast and reserved
 * ranges, and the one public address at which a cloud tells its machines their secrets.
 */
export const FORBIDDEN: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "168.63.129.16/32",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
];

/** For documentation and old relays: no registry is there. */
const NEVER_V4 = ["192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24", "203.0.113.0/24"];
/** All that is given out to machines of the internet; anything else is local, or carries an IPv4 address inside. */
const PUBLIC_V6 = "2000::/3";
/** Tunnels (Teredo, 6to4), documentation and other unassigned parts of it. */
const NEVER_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/**
 * Whether the provider may connect there on behalf of a tenant: a public address that is neither this machine's own nor
 * on one of its links. Anything that is not an address in its plain form is refused.
 */
export function isPublicAddress(address: string, interfaces = networkInterfaces()): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return false;
  if (ownNetworks(interfaces).check(address, version === 6 ? "ipv6" : "ipv4")) return false;
  if (version === 4) return !CLOSED_V4.check(address, "ipv4");
  return OPEN_V6.check(address, "ipv6") && !CLOSED_V6.check(address, "ipv6");
}

/** This machine itself, as everybody calls it. */
export function isLoopback(address: string): boolean {
  return address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
}

const CLOSED_V4 = listOf([...FORBIDDEN, ...NEVER_V4], "ipv4");
const OPEN_V6 = listOf([PUBLIC_V6], "ipv6");
const CLOSED_V6 = listOf(NEVER_V6, "ipv6");

function listOf(networks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const network of networks) addNetwork(list, network, family);
  return list;
}

function addNetwork(list: BlockList, network: string, family: "ipv4" | "ipv6"): void {
  const [address = "", bits] = network.split("/");
  list.addSubnet(address, Number(bits), family);
}

function ownNetworks(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): BlockList {
  const list = new BlockList();
  for (const { address, cidr, family } of Object.values(interfaces).flatMap((each) => each ?? [])) {
    const kind = family === "IPv6" ? "ipv6" : "ipv4";
    list.addAddress(address.replace(/%.*$/, ""), kind);
    if (cidr !== null) addNetwork(list, cidr.replace(/%[^/]*/, ""), kind);
  }
  return list;
}
