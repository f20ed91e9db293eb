import { join } from "node:path";
import { type Clock, type Logger, systemClock } from "../../util/index.ts";
import { Certificates, type Challenges } from "../ingress/index.ts";
import { openAuthority } from "./authority.ts";
import { CertificateKeeper } from "./keeper.ts";
import type { CertificateSources } from "./settings.ts";

/** Folder of kept certificates inside the provider's. */
const KEPT = "host-certificates";
/** Folder of the account at an ACME server. */
const ACCOUNT = "acme";

/** Every folder whose certificates the ingress presents. */
export function certificateFolders(stateDir: string, { certificates, authority, acme }: CertificateSources): string[] {
  return [...certificates, ...(authority === undefined && acme === undefined ? [] : [join(stateDir, KEPT)])];
}

export interface OpenKeeperOptions {
  readonly stateDir: string;
  readonly sources: CertificateSources;
  /** Where an ACME server finds answers. */
  readonly challenges: Challenges;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Undefined if all certificates are kept by others. Rejects if the authority cannot be used. */
export async function openKeeper(options: OpenKeeperOptions): Promise<CertificateKeeper | undefined> {
  const { stateDir, sources, challenges, log, clock = systemClock, random = Math.random } = options;
  const issuer = await openIssuer({ stateDir, sources, challenges });
  if (issuer === undefined) return undefined;
  const others = new Certificates(sources.certificates);
  const isCovered = (host: string): boolean => {
    others.look();
    return others.has(host);
  };
  return new CertificateKeeper({ folder: join(stateDir, KEPT), issuer, isCovered, clock, random, log });
}

async function openIssuer(options: Pick<OpenKeeperOptions, "stateDir" | "sources" | "challenges">) {
  const { stateDir, sources, challenges } = options;
  if (sources.authority !== undefined) return openAuthority(sources.authority);
  if (sources.acme === undefined) return undefined;
  // The library is loaded only where it is used.
  const { acmeIssuer } = await import("./acme.ts");
  return acmeIssuer({ settings: sources.acme, folder: join(stateDir, ACCOUNT), challenges });
}
