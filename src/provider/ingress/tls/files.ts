import { createPrivateKey, X509Certificate } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorText, readFileText } from "../../../util/index.ts";
import { normalHost } from "../../hostnames/index.ts";

/** Bytes of a chain or key; chains of public authorities have less than ten thousand. */
const MAX_FILE = 128 << 10;
/** Certificates of one folder. */
export const MAX_CERTIFICATES = 10_000;
/** Rights of a key's file beyond reading by its group. */
const TOO_MANY_RIGHTS = 0o037;

/** The two files of a certificate; both are the same where one file holds everything. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that fits its key. */
export interface HostCertificate {
  readonly files: CertificateFiles;
  /** PEM, the leaf first. */
  readonly chain: string;
  readonly key: string;
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * The certificates of a folder: pairs `NAME.crt` and `NAME.key`, files `NAME.pem` that hold both, and folders with
 * `fullchain.pem` and `privkey.pem`, as ACME clients write them. Throws if the folder cannot be read.
 */
export function listCertificates(folder: string): CertificateFiles[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const names = new Set(entries.map((entry) => entry.name));
  const pairs = [...names].flatMap((name) => {
    const key = name.replace(/\.crt$/, ".key");
    return key !== name && names.has(key) ? [{ certificate: join(folder, name), key: join(folder, key) }] : [];
  });
  const folders = entries.flatMap((entry) => {
    const files = {
      certificate: join(folder, entry.name, "fullchain.pem"),
      key: join(folder, entry.name, "privkey.pem"),
    };
    return !entry.isFile() && isThere(files.certificate) && isThere(files.key) ? [files] : [];
  });
  const whole = [...names]
    .filter((name) => name.endsWith(".pem") && !name.startsWith("."))
    .map((name) => ({ certificate: join(folder, name), key: join(folder, name) }));
  const found = [...pairs, ...whole, ...folders];
  if (found.length > MAX_CERTIFICATES) throw new Error(`more than ${MAX_CERTIFICATES} certificates`);
  return found.sort((one, other) => (one.certificate < other.certificate ? -1 : 1));
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Differs after each change of the files' contents; undefined if one cannot be read. */
export function fileVersion({ certificate, key }: CertificateFiles): string | undefined {
  try {
    return [certificate, key]
      .map((path) => {
        const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
        return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
      })
      .join(" ");
  } catch {
    return undefined;
  }
}

/** Reads both files. Throws one sentence that names the file at fault. */
export function readCertificate(files: CertificateFiles): HostCertificate {
  const mode = statSync(files.key).mode & 0o777;
  if ((mode & TOO_MANY_RIGHTS) !== 0) {
    throw new Error(`${files.key} can be read or changed by others (mode ${mode.toString(8)}): chmod 600 it`);
  }
  const chain = readFileText(files.certificate, { maxBytes: MAX_FILE });
  const key = readFileText(files.key, { maxBytes: MAX_FILE });
  const leaf = readLeaf(chain, files.certificate);
  if (!leaf.checkPrivateKey(readKey(key, files.key))) {
    throw new Error(`${files.key} is not the key of ${files.certificate}`);
  }
  const names = certificateNames(leaf);
  if (names.length === 0) throw new Error(`${files.certificate} names no host (subject alternative names)`);
  return { files, chain, key, names, notBefore: Date.parse(leaf.validFrom), notAfter: Date.parse(leaf.validTo) };
}

function readLeaf(chain: string, path: string): X509Certificate {
  try {
    return new X509Certificate(chain);
  } catch (cause) {
    throw new Error(`${path} is not a certificate in PEM form`, { cause });
  }
}

function readKey(key: string, path: string) {
  try {
    return createPrivateKey(key);
  } catch (cause) {
    throw new Error(`${path} is not a private key in PEM form without a passphrase (${errorText(cause)})`, { cause });
  }
}

/** The DNS names of a certificate in lower case; a wildcard keeps its `*.`. Common names do not count (RFC 9525). */
function certificateNames(certificate: X509Certificate): readonly string[] {
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
