import { join } from "node:path";
import { type Clock, type Logger, systemClock } from "../../util/index.ts";
import { Certificates } from "../ingress/index.ts";
import { openAuthority } from "./authority.ts";
import type { Issuer } from "./issuer.ts";
import { CertificateKeeper } from "./keeper.ts";

/** Folder of kept certificates inside the provider's. */
const KEPT = "host-certificates";

/** Whose certificates host names show. */
export interface CertificateSources {
  /** Folders in which others keep certificates. */
  readonly certificates: readonly string[];
  /** Folder of an authority that signs a certificate for each host name. */
  readonly authority?: string;
}

/** Every folder whose certificates the ingress presents. */
export function certificateFolders(stateDir: string, { certificates, authority }: CertificateSources): string[] {
  return [...certificates, ...(authority === undefined ? [] : [join(stateDir, KEPT)])];
}

export interface OpenKeeperOptions {
  readonly stateDir: string;
  readonly sources: CertificateSources;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Undefined if all certificates are kept by others. Rejects if the authority cannot be used. */
export async function openKeeper(options: OpenKeeperOptions): Promise<CertificateKeeper | undefined> {
  const { stateDir, sources, log, clock = systemClock, random = Math.random } = options;
  const issuer = await openIssuer(sources);
  if (issuer === undefined) return undefined;
  const others = new Certificates(sources.certificates);
  const isCovered = (host: string): boolean => {
    others.look();
    return others.has(host);
  };
  return new CertificateKeeper({ folder: join(stateDir, KEPT), issuer, isCovered, clock, random, log });
}

async function openIssuer({ authority }: CertificateSources): Promise<Issuer | undefined> {
  return authority === undefined ? undefined : openAuthority(authority);
}
