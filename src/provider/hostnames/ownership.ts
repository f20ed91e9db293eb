import { type Clock, systemClock, Turns } from "../../util/index.ts";
import { RateLimit } from "../../util/servers/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { ingressErrors } from "./errors.ts";
import { HOST_LIMITS } from "./limits.ts";
import { CHALLENGE_LABEL, type HostProver } from "./proof.ts";
import type { HostRegistry } from "./registry.ts";

type Claimant = Pick<LeaseKey, "owner" | "dseq" | "gseq">;

export interface OwnershipOptions {
  readonly registry: HostRegistry;
  /** Who asks the DNS; undefined where the first tenant with a name gets it. */
  readonly prover: HostProver | undefined;
  /** The name in the provider's domain that stands for the account. */
  readonly aliasOf: (owner: string) => string | undefined;
  /** The system's by default. */
  readonly clock?: Clock;
  /** A deployment has lost a name to the tenant who has its domain now. */
  readonly onLost: (holder: Claimant, host: string) => void;
}

/** Another account that has the name. */
interface Found {
  readonly rival: string | undefined;
  /** Its domain is the claimant's by now. */
  readonly yields: boolean;
}

type Judge = (host: string, find: () => Promise<Found>) => Promise<void>;

/**
 * Proofs of tenants' own host names. An owner's name, in use or resting, needs no proof; another owner's name changes
 * hands only if the DNS names the new owner and no longer the old one.
 */
export class HostOwnership {
  readonly #options: OwnershipOptions;
  readonly #turns = new Turns({ each: HOST_LIMITS.ownerLookups, all: HOST_LIMITS.lookups });
  readonly #asked = new RateLimit(HOST_LIMITS.ownerBurst, HOST_LIMITS.ownerPerSecond);

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** Resolves if the claimant may have the names as far as their domains are concerned; rejects with the reason. */
  async establish(claimant: Claimant, hosts: readonly string[]): Promise<void> {
    const { registry, onLost } = this.#options;
    await this.#examine(claimant, hosts, async (host, find) => {
      const { rival, yields } = await find();
      if (rival === undefined || !yields) return;
      const holder = registry.forfeit(host, rival);
      if (holder !== undefined) onLost(holder, host);
    });
  }

  /**
   * Whether the claimant could have the names now, before paying for a lease: changes nothing. The refusal does not say
   * who has a name, nor whether it is in use.
   */
  async check(claimant: Claimant, hosts: readonly string[]): Promise<void> {
    await this.#examine(claimant, hosts, async (host, find) => {
      const { rival, yields } = await find();
      if (rival !== undefined && !yields) throw ingressErrors.hostUnavailable(`"${host}"`);
    });
  }

  /** Calls back for each name that is not yet the claimant's. */
  async #examine(claimant: Claimant, hosts: readonly string[], judge: Judge): Promise<void> {
    const { registry } = this.#options;
    const names = registry.foreign(claimant, hosts);
    if (names.length > HOST_LIMITS.perLease) {
      throw ingressErrors.tooManyHosts(`${names.length} host names, at most ${HOST_LIMITS.perLease}`);
    }
    // A few at a time, and none after a failure: a tenant with slow name servers must not keep others waiting.
    for (let at = 0; at < names.length; at += HOST_LIMITS.together) {
      const some = names.slice(at, at + HOST_LIMITS.together);
      const { owner } = claimant;
      const find = (name: string) => this.#turns.run(owner, () => this.#find(name, owner));
      const judged = some.map((name) => judge(name, () => find(name)));
      await Promise.all(judged);
    }
  }

  /**
   * Who else has the name, and whether that owner would lose it to the claimant. Rejects where the owner may not have it.
   */
  async #find(host: string, owner: string): Promise<Found> {
    const { registry, prover, clock = systemClock } = this.#options;
    if (prover === undefined) return { rival: registry.ownerOf(host), yields: false };
    if (!this.#asked.take(owner, clock.now())) throw ingressErrors.askedTooOften(`"${host}"`);
    const proof = await prover.prove(host, owner);
    if (proof === "unknown") throw ingressErrors.dnsAway(`"${host}"`);
    if (proof === "no") throw ingressErrors.hostUnproven(`"${host}"`, { hint: this.#remedy(host, owner) });
    const rival = registry.ownerOf(host);
    if (rival === undefined || rival === owner) return { rival: undefined, yields: false };
    // A missing answer never takes a name away.
    return { rival, yields: (await prover.prove(host, rival)) === "no" };
  }

  #remedy(host: string, owner: string): string {
    const alias = this.#options.aliasOf(owner);
    const txt = `add the DNS record ${CHALLENGE_LABEL}.${host} TXT "${owner}"`;
    return alias === undefined ? txt : `${txt}, or make ${host} a CNAME of ${alias}`;
  }
}
