import { type Clock, systemClock } from "../../util/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { ingressErrors } from "./errors.ts";
import type { HostLedger } from "./ledger.ts";
import { HOST_LIMITS } from "./limits.ts";
import { normalHost } from "./normal-host.ts";
import { Resting } from "./resting.ts";

export interface HostRules {
  /** Exact names, or with a leading dot a whole domain. */
  readonly blocked?: readonly string[];
  /** The provider's own ingress domain; tenants cannot claim it or anything below it. */
  readonly domain?: string;
  /** Names under which the provider itself is reached. */
  readonly own?: readonly string[];
  /** Milliseconds for which a name that was given up stays with its owner; none by default. */
  readonly quarantineMs?: number;
}

/** Durable memory of the registry, and the time. */
export interface HostMemory {
  readonly ledger?: HostLedger;
  readonly clock?: Clock;
}

/** Outcome of a claim: a withheld host stays with another deployment of the same owner. */
export interface HostClaim {
  readonly accepted: readonly string[];
  readonly withheld: readonly string[];
}

/** A deployment's group; orders of it after the first share its names. */
export type HostHolder = Pick<LeaseKey, "owner" | "dseq" | "gseq">;

interface Held extends HostHolder {
  /** Whether a lease was served under it: only then it rests when it is given up. */
  served: boolean;
}

/** Who may use which host name on this provider. A name has one owner; after its owner gives it up, it rests for a time. */
export class HostRegistry {
  readonly #rules: HostRules;
  readonly #ledger: HostLedger | undefined;
  readonly #holders = new Map<string, Held>();
  readonly #resting: Resting;

  constructor(rules: HostRules = {}, { ledger, clock = systemClock }: HostMemory = {}) {
    this.#rules = rules;
    this.#ledger = ledger;
    this.#resting = new Resting(rules.quarantineMs ?? 0, clock);
    for (const each of ledger?.load() ?? []) this.#resting.restore(each);
  }

  /** Claims every name or, if one is refused, none. Claiming again what one holds changes nothing. */
  claim(holder: HostHolder, hosts: readonly string[]): HostClaim {
    const names = this.#names(holder, hosts);
    const withheld = names.filter((name) => {
      const other = this.#holders.get(name);
      return other !== undefined && !sameHolder(other, holder);
    });
    const accepted = names.filter((name) => !withheld.includes(name));
    for (const name of accepted) {
      if (!this.#holders.has(name)) this.#holders.set(name, { ...pick(holder), served: this.#resting.take(name) });
    }
    return { accepted, withheld };
  }

  /** Throws the refusal that `claim` would give; changes nothing. */
  check(holder: HostHolder, hosts: readonly string[]): void {
    this.#names(holder, hosts);
  }

  /** Whether `claim` would take the name. */
  allows(holder: HostHolder, host: string): boolean {
    try {
      this.check(holder, [host]);
      return true;
    } catch {
      return false;
    }
  }

  /** The names that are not yet the owner's, normalised and each once. Throws for names that are always refused. */
  foreign({ owner }: Pick<HostHolder, "owner">, hosts: readonly string[]): string[] {
    const names = distinct(hosts.map((host) => this.#permitted(host)));
    return names.filter((name) => this.ownerOf(name) !== owner);
  }

  /** Whether the holder has the name. */
  holds(holder: HostHolder, host: string): boolean {
    const held = this.#holders.get(host);
    return held !== undefined && sameHolder(held, holder);
  }

  /** Which deployment of the owner has the name. */
  holderOf(host: string): HostHolder | undefined {
    const held = this.#holders.get(host);
    return held === undefined ? undefined : pick(held);
  }

  /** The owner of the name, in use or resting. */
  ownerOf(host: string): string | undefined {
    return this.#holders.get(host)?.owner ?? this.#resting.ownerOf(host);
  }

  /** The name is no longer the owner's, at once; nothing happens if it is another's by now. Returns who held it. */
  forfeit(host: string, owner: string): HostHolder | undefined {
    if (this.ownerOf(host) !== owner) return undefined;
    const holder = this.#holders.get(host);
    this.#holders.delete(host);
    this.#resting.drop(host);
    this.#write();
    return holder === undefined ? undefined : pick(holder);
  }

  /** Migrates names to another deployment of the same owner; names that the owner has lost meanwhile stay where they are. */
  migrate(to: HostHolder, hosts: readonly string[]): void {
    for (const host of hosts) {
      if (this.#holders.get(host)?.owner === to.owner) this.#holders.set(host, { ...pick(to), served: true });
    }
  }

  /** The holder is served under exactly these names from now on; others that it was served under begin to rest. */
  retain(holder: HostHolder, hosts: readonly string[]): void {
    const kept = new Set(hosts.map(normalHost));
    let changed = false;
    for (const host of this.heldBy(holder)) {
      const held = this.#holders.get(host);
      if (held === undefined) continue;
      if (kept.has(host)) {
        changed ||= !held.served;
        held.served = true;
        continue;
      }
      this.#holders.delete(host);
      if (!held.served) continue;
      this.#resting.put(host, held.owner);
      changed = true;
    }
    if (changed) this.#write();
  }

  release(holder: HostHolder): void {
    this.retain(holder, []);
  }

  heldBy(holder: HostHolder): string[] {
    return [...this.#holders].filter(([, other]) => sameHolder(other, holder)).map(([host]) => host);
  }

  /** Names in use have no end yet: after a crash they rest from the next start on, until their leases claim them. */
  #write(): void {
    const served = [...this.#holders].filter(([, { served }]) => served);
    this.#ledger?.save([
      ...served.map(([host, { owner }]) => ({ host, owner, until: null })),
      ...this.#resting.entries(),
    ]);
  }

  #names(holder: HostHolder, hosts: readonly string[]): string[] {
    const names = distinct(hosts.map((host) => this.#permitted(host)));
    if (names.length > HOST_LIMITS.perLease) {
      throw ingressErrors.tooManyHosts(`${names.length} host names, at most ${HOST_LIMITS.perLease}`);
    }
    for (const name of names) this.#checkOwner(name, holder.owner);
    return names;
  }

  #checkOwner(host: string, owner: string): void {
    const other = this.ownerOf(host);
    if (other === undefined || other === owner) return;
    throw this.#holders.has(host) ? ingressErrors.hostInUse(`"${host}"`) : ingressErrors.hostResting(`"${host}"`);
  }

  /** The normal form of a name that tenants may have. */
  #permitted(text: string): string {
    const host = normalHost(text);
    if (host === undefined || host !== text.toLowerCase().replace(/\.$/, "")) {
      throw ingressErrors.invalidHost(`"${text.slice(0, 255)}"`);
    }
    const { blocked = [], own = [], domain } = this.#rules;
    if (blocked.some((rule) => matches(rule, host))) throw ingressErrors.blockedHost(`"${host}"`);
    const domains = domain === undefined || domain === "" ? [] : [`.${domain}`];
    if ([...domains, ...own].some((rule) => matches(rule, host))) throw ingressErrors.ownDomain(`"${host}"`);
    return host;
  }
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** `.example.com`, like the `*.example.com` of certificates, means the domain and everything below it. */
function matches(rule: string, host: string): boolean {
  const name = rule
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\*(?=\.)/, "");
  return name.startsWith(".") ? host.endsWith(name) || host === name.slice(1) : host === name;
}

function sameHolder(one: HostHolder, other: HostHolder): boolean {
  return one.owner === other.owner && one.dseq === other.dseq && one.gseq === other.gseq;
}

function pick(holder: HostHolder): HostHolder {
  return { owner: holder.owner, dseq: holder.dseq, gseq: holder.gseq };
}
