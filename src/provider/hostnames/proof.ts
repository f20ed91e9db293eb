import { Resolver } from "node:dns/promises";
import { HOST_LIMITS } from "./limits.ts";

/** The DNS's answer about a name: it is the account's, it is not, or unknown. */
export type Proof = "yes" | "no" | "unknown";

/** Whether the holder of a domain allows an account to use a name of it. */
export interface HostProver {
  /** Resolves within `HOST_LIMITS.proofMs`: without an answer the proof is unknown. */
  prove(host: string, owner: string): Promise<Proof>;
}

/** The label before a host name, at which a TXT record names the account. */
export const CHALLENGE_LABEL = "_svc-challenge";

/** Answers of a resolver that say for certain that there is no such record. */
const ABSENT: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/** Queries to the DNS; they reject with the code of `node:dns`. */
export interface Lookups {
  txt(name: string): Promise<readonly (readonly string[])[]>;
  cname(name: string): Promise<readonly string[]>;
  /** Cancels all queries. */
  cancel(): void;
}

export interface DnsProverOptions {
  /** The name in the provider's domain that stands for the account; undefined where there is none. */
  readonly aliasOf: (owner: string) => string | undefined;
  /** Opens the queries about one name; by default they go to the system's resolvers. */
  readonly open?: () => Lookups;
  readonly limitMs?: number;
}

/**
 * Asks the DNS for a TXT record at `_svc-challenge.HOST` that is the account's address, or for a CNAME record of HOST that
 * leads to the account's own name at this provider. Answers come from the operator's resolvers, never from the tenant.
 */
export function dnsProver({
  aliasOf,
  open = systemLookups,
  limitMs = HOST_LIMITS.proofMs,
}: DnsProverOptions): HostProver {
  return {
    async prove(host, owner) {
      const lookups = open();
      const limit = setTimeout(() => lookups.cancel(), limitMs);
      try {
        const alias = aliasOf(owner);
        const proofs = await Promise.all([
          answers(
            () => lookups.txt(`${CHALLENGE_LABEL}.${host}`),
            (record) => record.join("").trim() === owner,
          ),
          alias === undefined
            ? "no"
            : answers(
                () => lookups.cname(host),
                (target) => isSameName(target, alias),
              ),
        ]);
        if (proofs.includes("yes")) return "yes";
        return proofs.includes("unknown") ? "unknown" : "no";
      } finally {
        clearTimeout(limit);
      }
    },
  };
}

async function answers<T>(ask: () => Promise<readonly T[]>, isProof: (record: T) => boolean): Promise<Proof> {
  try {
    const records = await ask();
    return records.slice(0, HOST_LIMITS.records).some(isProof) ? "yes" : "no";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return ABSENT.has(code) ? "no" : "unknown";
  }
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase().replace(/\.$/, "") === other.toLowerCase();
}

function systemLookups(servers: readonly string[] = []): Lookups {
  const resolver = new Resolver({ timeout: HOST_LIMITS.proofMs / 2, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    txt: (name) => resolver.resolveTxt(name),
    cname: (name) => resolver.resolveCname(name),
    cancel: () => resolver.cancel(),
  };
}

/** Queries to these resolvers, or to the system's if none are given. */
export function resolverLookups(servers: readonly string[]): () => Lookups {
  return () => systemLookups(servers);
}
