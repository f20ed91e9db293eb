import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { CertificateFile } from "./file.ts";

/** Status on the chain of the certificate in a file. */
export type ChainRecord = "valid" | "revoked" | "other" | "missing";

export interface CertificateFacts {
  readonly address: string;
  /** The existing certificate file, if any. */
  readonly file: CertificateFile | undefined;
  readonly record: ChainRecord;
  /** Hosts that the certificate should be for; empty for a client. */
  readonly hosts: readonly string[];
  /** `--rie`: revoke a valid certificate and make a new one. */
  readonly replace: boolean;
  /** Seconds since 1970. */
  readonly now: number;
}

/** The next action, and the sentence that gives its reason. */
export type CertificatePlan =
  | { readonly kind: "keep" | "publish"; readonly say: string; readonly file: CertificateFile }
  | { readonly kind: "new"; readonly say: string; readonly revoke?: string };

/** Decides how an account gets a published certificate for the given hosts, whatever exists already. */
export function planCertificate(facts: CertificateFacts): CertificatePlan {
  const { address, file, record, replace } = facts;
  if (file === undefined) return { kind: "new", say: `no certificate found for address ${address}. generating new...` };
  const { serial } = file.details;
  const fault = unusable(file, facts);
  if (fault !== undefined) {
    return {
      kind: "new",
      say: `${fault}. generating a new one...`,
      ...(replace && record === "valid" ? { revoke: serial } : {}),
    };
  }
  if (record === "missing") {
    return {
      kind: "publish",
      say: `certificate ${serial} in ${file.path} is not on the chain yet. publishing it...`,
      file,
    };
  }
  if (replace)
    return { kind: "new", say: `revoking certificate ${serial} and generating a new one...`, revoke: serial };
  const end = day(file.details.notAfter);
  return {
    kind: "keep",
    say: `certificate ${serial} in ${file.path} is on the chain and valid until ${end}; nothing to do (--rie revokes it and makes a new one)`,
    file,
  };
}

/** Why the certificate in a file is no longer usable. */
function unusable(file: CertificateFile, { record, hosts, now }: CertificateFacts): string | undefined {
  const { serial, notAfter } = file.details;
  const name = `certificate ${serial} in ${file.path}`;
  if (record === "revoked") return `${name} was revoked on the chain`;
  if (record === "other") return `${name} differs from the one with that number on the chain`;
  if (notAfter <= now) return `${name} has expired on ${day(notAfter)}`;
  const certified = certifiedHosts(file.certificate);
  if (!sameHosts(certified, hosts))
    return `${name} is for ${certified.join(", ") || "no host"}, not for ${hosts.join(", ") || "a client"}`;
  return undefined;
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** Host names and IP addresses that a certificate is for. */
export function certifiedHosts(pem: string): string[] {
  const names = new X509Certificate(pem).subjectAltName ?? "";
  return names
    .split(", ")
    .map((name) => name.replace(/^(?:DNS|IP Address):/, ""))
    .filter((name) => name !== "");
}

function sameHosts(a: readonly string[], b: readonly string[]): boolean {
  const canonical = (hosts: readonly string[]) => [...new Set(hosts.map(canonicalHost))].sort().join(" ");
  return canonical(a) === canonical(b);
}

/** Names in lower case; IPv6 addresses have many spellings, which a URL reduces to one. */
function canonicalHost(host: string): string {
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname : host.toLowerCase();
}
