import { isIP } from "node:net";
import { normalHost } from "../../../provider/index.ts";
import { asCount, asList, type DecimalCoin, parseDecCoin, WrongForm } from "../../../util/index.ts";

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

/** A limit of one client or tenant; zero would shut everyone out. */
export function parseAtLeastOne(text: string): number {
  const count = asCount(text);
  if (count === 0) throw new WrongForm("a number of at least 1");
  return count;
}

export function parsePercent(text: string): number {
  const percent = asCount(text);
  if (percent === 0 || percent > 100) throw new WrongForm("a percentage from 1 to 100");
  return percent;
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

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
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
