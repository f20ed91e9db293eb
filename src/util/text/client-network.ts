/**
 * The network that counts as one client: an IPv4 address, or an IPv6 network of the size that a customer gets (RFC
 * 6177).
 */
export function clientNetwork(address: string): string {
  const [plain = ""] = address.replace(/^::ffff:(?=\d+\.)/i, "").split("%");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  // An IPv4 address at the end takes the place of two.
  const have = first.length + last.length + (plain.includes(".") ? 1 : 0);
  const parts = tail === undefined ? first : [...first, ...Array<string>(8 - have).fill("0"), ...last];
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${network.join(":")}::/64`;
}
