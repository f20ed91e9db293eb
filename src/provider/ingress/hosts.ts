import type { LeaseKey } from "../../wire/index.ts";
import { ingressErrors } from "./errors.ts";
import { normalHost } from "./normal-host.ts";

export interface HostRules {
  /** Exact names, or with a leading dot a whole domain. */
  readonly blocked?: readonly string[];
  /** The provider's own ingress domain; tenants cannot claim it or anything below it. */
  readonly domain?: string;
}

/** Outcome of a claim: a withheld host stays with another deployment of the same owner. */
export interface HostClaim {
  readonly accepted: readonly string[];
  readonly withheld: readonly string[];
}

type HostHolder = Pick<LeaseKey, "owner" | "dseq" | "gseq">;

/** Who may use which host name on this provider: first come, first served. */
export class HostRegistry {
  readonly #rules: HostRules;
  readonly #holders = new Map<string, HostHolder>();

  constructor(rules: HostRules = {}) {
    this.#rules = rules;
  }

  /** Claims every name or, if one is refused, none. Claiming again what one holds changes nothing. */
  claim(holder: HostHolder, hosts: readonly string[]): HostClaim {
    const names = [...new Set(hosts.map((host) => this.#check(host, holder)))];
    const withheld = names.filter((name) => {
      const other = this.#holders.get(name);
      return other !== undefined && !sameHolder(other, holder);
    });
    const accepted = names.filter((name) => !withheld.includes(name));
    for (const name of accepted) this.#holders.set(name, pick(holder));
    return { accepted, withheld };
  }

  /** Throws the refusal that `claim` would give; changes nothing. */
  check(holder: HostHolder, hosts: readonly string[]): void {
    for (const host of hosts) this.#check(host, holder);
  }

  /** Keeps only these hosts for the holder, after an update that dropped some. */
  retain(holder: HostHolder, hosts: readonly string[]): void {
    const kept = new Set(hosts.map(normalHost));
    for (const host of this.heldBy(holder)) if (!kept.has(host)) this.#holders.delete(host);
  }

  release(holder: HostHolder): void {
    for (const host of this.heldBy(holder)) this.#holders.delete(host);
  }

  heldBy(holder: HostHolder): string[] {
    return [...this.#holders].filter(([, other]) => sameHolder(other, holder)).map(([host]) => host);
  }

  #check(text: string, holder: HostHolder): string {
    const host = normalHost(text);
    if (host === undefined || host !== text.toLowerCase().replace(/\.$/, "")) {
      throw ingressErrors.invalidHost(`"${text.slice(0, 255)}"`);
    }
    if (this.#rules.blocked?.some((rule) => matches(rule, host)) === true) throw ingressErrors.blockedHost(`"${host}"`);
    const { domain } = this.#rules;
    if (domain !== undefined && domain !== "" && matches(`.${domain}`, host))
      throw ingressErrors.ownDomain(`"${host}"`);
    const other = this.#holders.get(host);
    if (other !== undefined && other.owner !== holder.owner) throw ingressErrors.hostInUse(`"${host}"`);
    return host;
  }
}

/** `.example.com` means the domain and everything below it. */
function matches(rule: string, host: string): boolean {
  const name = rule.toLowerCase();
  return name.startsWith(".") ? host.endsWith(name) || host === name.slice(1) : host === name;
}

function sameHolder(one: HostHolder, other: HostHolder): boolean {
  return one.owner === other.owner && one.dseq === other.dseq && one.gseq === other.gseq;
}

function pick(holder: HostHolder): HostHolder {
  return { owner: holder.owner, dseq: holder.dseq, gseq: holder.gseq };
}
