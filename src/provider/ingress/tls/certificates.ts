import { constants } from "node:crypto";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { errorText } from "../../../util/index.ts";
import {
  type CertificateFiles,
  fileVersion,
  type HostCertificate,
  listCertificates,
  readCertificate,
} from "./files.ts";

/**
 * TLS 1.2 with forward secrecy and authenticated ciphers, and TLS 1.3 (RFC 9325). Renegotiation, which lets a client ask
 * for one handshake after another, is off.
 */
export const TLS_OPTIONS = {
  minVersion: "TLSv1.2",
  ciphers: [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
  ].join(":"),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies SecureContextOptions;

/** Protocols that a client may choose (RFC 7301), the preferred one first. */
export const PROTOCOLS = ["h2", "http/1.1"] as const;

interface Held {
  readonly version: string;
  readonly certificate: HostCertificate;
}

interface Presented {
  readonly certificate: HostCertificate;
  /** Made when the first client asks for it. */
  context: SecureContext | undefined;
}

/** The result of reading the folders. */
export interface CertificateNews {
  /** Whether another certificate is presented for some name. */
  readonly changed: boolean;
  /** One sentence for each thing that cannot be used. */
  readonly problems: readonly string[];
}

/**
 * The certificates in folders of this machine, by host name. A pair that cannot be read is left out; one that could be
 * read before stays as it was, so that a program that is just writing its files removes no certificate.
 */
export class Certificates {
  /** By folder, then by the certificate's file. */
  readonly #held = new Map<string, Map<string, Held>>();
  #byName = new Map<string, Presented>();

  constructor(folders: readonly string[]) {
    for (const folder of folders) this.#held.set(folder, new Map());
  }

  /** Reads changes since the last look. */
  look(): CertificateNews {
    const problems: string[] = [];
    let changed = false;
    for (const [folder, held] of this.#held) {
      const files = list(folder, problems);
      if (files === undefined) continue;
      for (const each of files) if (read(each, held, problems)) changed = true;
      if (forget(held, new Set(files.map(({ certificate }) => certificate)))) changed = true;
    }
    if (changed) this.#arrange();
    return { changed, problems };
  }

  /** Host names that have a certificate; a wildcard counts as one. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** The certificates that clients can be shown. */
  get presented(): readonly HostCertificate[] {
    return [...new Set([...this.#byName.values()].map(({ certificate }) => certificate))];
  }

  /** Whether there is a certificate for the host (in normal form). */
  has(host: string): boolean {
    return this.#find(host) !== undefined;
  }

  /** Whether the certificate that a client gets for one name is for the other too. */
  sameFor(asked: string, host: string): boolean {
    const certificate = this.#find(asked)?.certificate;
    return certificate !== undefined && namesFor(host).some((name) => certificate.names.includes(name));
  }

  /** The certificate for the host in TLS; undefined if there is none. */
  context(host: string): SecureContext | undefined {
    const found = this.#find(host);
    if (found === undefined) return undefined;
    const { chain, key } = found.certificate;
    found.context ??= createSecureContext({ ...TLS_OPTIONS, cert: chain, key });
    return found.context;
  }

  #find(host: string): Presented | undefined {
    for (const name of namesFor(host)) {
      const found = this.#byName.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** With several certificates for a name, the one that expires last is presented. */
  #arrange(): void {
    const before = new Map([...this.#byName.values()].map((entry) => [entry.certificate, entry]));
    const arranged = new Map<string, Presented>();
    for (const { certificate } of [...this.#held.values()].flatMap((held) => [...held.values()])) {
      const entry = before.get(certificate) ?? { certificate, context: undefined };
      for (const name of certificate.names) {
        const other = arranged.get(name);
        if (other === undefined || other.certificate.notAfter < certificate.notAfter) arranged.set(name, entry);
      }
    }
    this.#byName = arranged;
  }
}

/** Undefined if the folder cannot be read; its known certificates stay. */
function list(folder: string, problems: string[]): CertificateFiles[] | undefined {
  try {
    return listCertificates(folder);
  } catch (error) {
    problems.push(`the folder of certificates ${folder} cannot be read: ${errorText(error)}`);
    return undefined;
  }
}

/** Whether another certificate is held than before. */
function read(files: CertificateFiles, held: Map<string, Held>, problems: string[]): boolean {
  const version = fileVersion(files);
  if (version !== undefined && held.get(files.certificate)?.version === version) return false;
  try {
    const certificate = readCertificate(files);
    held.set(files.certificate, { version: version ?? "", certificate });
    return true;
  } catch (error) {
    problems.push(errorText(error));
    return false;
  }
}

/** Drops certificates whose files have gone from the folder. */
function forget(held: Map<string, Held>, kept: ReadonlySet<string>): boolean {
  const gone = [...held.keys()].filter((path) => !kept.has(path));
  for (const path of gone) held.delete(path);
  return gone.length > 0;
}

/** The names under which a certificate for the host may stand. */
export function namesFor(host: string): readonly string[] {
  const dot = host.indexOf(".");
  return dot < 1 ? [host] : [host, `*${host.slice(dot)}`];
}
