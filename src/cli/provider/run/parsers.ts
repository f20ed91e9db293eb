import { isIP } from "node:net";
import {
  addressPool,
  type GatewayName,
  type GpuModel,
  MAX_POOL,
  normalHost,
  parseAllowedRegistry,
  parseGpuModel,
} from "../../../provider/index.ts";
import { asCount, asList, asWords, type DecimalCoin, parseDecCoin, WrongForm } from "../../../util/index.ts";

/** A host name in lower case: names of tenants are made from it. */
export function parseHost(text: string): string {
  const host = text.toLowerCase();
  if (isIP(host) !== 0 || normalHost(host) === host) return host;
  throw new WrongForm(
    "a host name such as apps.example.com",
    "write the name alone, without https://, port, path and *",
  );
}

/** Addresses of DNS servers, separated by commas, with a port where it is not 53. */
export const parseResolvers = asList("addresses such as 192.0.2.53 or [2001:db8::53]:5353", (word) => {
  const [, bracketed, plain = word, port = "53"] = /^(?:\[(.*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(word) ?? [];
  const address = bracketed ?? plain;
  return isIP(address) !== 0 && Number(port) > 0 && Number(port) < 65_536 ? word : undefined;
});

/** Host names, separated by commas; one with a leading dot or `*.` stands for its whole domain. */
export const parseHostRules = asList(
  "host names such as www.example.com, or .example.com for a whole domain",
  (word) => {
    const name = word
      .toLowerCase()
      .replace(/^\*?\./, "")
      .replace(/\.$/, "");
    return normalHost(name) === name ? word : undefined;
  },
);

/** A Gateway and its namespace. */
export function parseGateway(text: string): GatewayName {
  const [namespace = "", name = "", ...more] = text.split("/");
  const isName = (word: string): boolean => word.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(word);
  if (more.length === 0 && isName(namespace) && isName(name)) return { namespace, name };
  throw new WrongForm("a namespace and a name such as gateways/tenants");
}

/** What one client or tenant may have; zero would shut everybody out. */
export function parseAtLeastOne(text: string): number {
  const count = asCount(text);
  if (count === 0) throw new WrongForm("a number of at least 1");
  return count;
}

/** Undefined where gas has no price. */
export function parseGasPrice(text: string): DecimalCoin | undefined {
  return text === "" || text === "0" ? undefined : parseDecCoin(text);
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export function parsePortRange(text: string): PortRange {
  const [first = 0, last = 0] = text.split("-").map(Number);
  if (/^\d{1,5}-\d{1,5}$/.test(text) && first >= 1 && last <= 65_535 && first <= last) return { first, last };
  throw new WrongForm("two ports such as 30000-32767");
}

/** Every address of networks, ranges and single addresses, separated by commas. */
export function parseAddressPool(text: string): readonly string[] {
  const pool = addressPool(asWords(text));
  if (pool !== undefined) return pool;
  throw new WrongForm(
    `networks, ranges or addresses such as 203.0.113.0/28,198.51.100.10-198.51.100.20, at most ${MAX_POOL} addresses`,
  );
}

/** Bytes of a size such as `512Mi`. */
export function parseSize(text: string): bigint {
  const [, digits, unit] = /^(\d{1,9})(Mi|Gi)$/.exec(text) ?? [];
  if (digits === undefined) throw new WrongForm("a size such as 512Mi or 2Gi");
  return BigInt(digits) << (unit === "Gi" ? 30n : 20n);
}

/** Registries, separated by commas. */
export const parseRegistries = asList(
  "hosts such as registry.internal:5000, or http://registry.internal:5000 for one without TLS",
  parseAllowedRegistry,
);

/** Models of GPUs by device, separated by commas. */
export function parseGpuModels(text: string): ReadonlyMap<string, GpuModel> {
  return new Map(readGpuModels(text));
}

const readGpuModels = asList(
  "devices with their models such as nvidia.com/gpu=0:a100/80Gi/sxm or nvidia.com/gpu:t4",
  parseGpuModel,
);

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** An address of this machine. */
export function parseAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new WrongForm("an address such as 0.0.0.0 or 127.0.0.1");
}

/** `127.0.0.1:9100`; this machine alone where no address is named. */
export function parseLoopbackAddress(text: string): ListenAddress {
  return text.startsWith(":") ? parseListenAddress(`127.0.0.1${text}`) : parseListenAddress(text);
}

/** `0.0.0.0:8443`; all addresses of the machine where none is named. */
export function parseListenAddress(text: string): ListenAddress {
  const [, host, digits] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) throw new WrongForm("<host>:<port> such as 0.0.0.0:8443");
  return { host: host === undefined || host === "" ? "0.0.0.0" : host, port };
}

/** ACME is spoken over TLS alone (RFC 8555 section 6.1). */
export function parseDirectory(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === "https:") return text;
  throw new WrongForm("an address such as https://acme.example.com/directory");
}

export function parseEmail(text: string): string {
  if (/^[^\s@,]{1,64}@[^\s@,]{1,255}$/.test(text)) return text;
  throw new WrongForm("an address such as operator@example.com");
}
