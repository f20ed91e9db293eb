import type { X509Certificate } from "node:crypto";
import { normalHost } from "../../hostnames/index.ts";

/** The DNS names of a certificate in lower case; a wildcard keeps its `*.`. Common names do not count (RFC 9525). */
export function certificateNames(certificate: X509Certificate): readonly string[] {
  const { subjectAltName } = certificate;
  if (subjectAltName === undefined) return [];
  // A name that holds quotes, commas or control characters is printed in quotes: such a text matches no host.
  return subjectAltName.split(", ").flatMap((entry) => {
    const name = entry.startsWith("DNS:") ? entry.slice(4).toLowerCase() : "";
    return isName(name) ? [name] : [];
  });
}

/** A wildcard stands for the whole leftmost label (RFC 9525 section 6.3) and needs two labels after it. */
function isName(name: string): boolean {
  const rest = name.startsWith("*.") ? name.slice(2) : name;
  return normalHost(rest) === rest && (rest === name || rest.includes("."));
}

/** The names under which a certificate for the host may stand. */
export function namesFor(host: string): readonly string[] {
  const dot = host.indexOf(".");
  return dot < 1 ? [host] : [host, `*${host.slice(dot)}`];
}
