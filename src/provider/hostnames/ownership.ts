import { type Clock, RateLimit, Semaphore, systemClock } from "../../util/index.ts";
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

/**
 * Proofs of host names that tenants bring along. What is an owner's already, in use or resting, needs no proof; what is another's
 * changes hands only if the DNS names the new owner and no longer the old one.
 */
export class HostOwnership {
  readonly #options: OwnershipOptions;
  readonly #places = new Semaphore(HOST_LIMITS.lookups);
  readonly #asked = new RateLimit(HOST_LIMITS.ownerBurst, HOST_LIMITS.ownerPerSecond);

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** Resolves if the claimant may have the names as far as their domains are concerned; rejects with the reason. */
  async establish(claimant: Claimant, hosts: readonly string[]): Promise<void> {
    const { registry, prover } = this.#options;
    const names = registry.foreign(claimant, hosts);
    if (names.length > HOST_LIMITS.perLease) {
      throw ingressErrors.tooManyHosts(`${names.length} host names, at most ${HOST_LIMITS.perLease}`);
    }
    if (prover === undefined) return;
    // A few at a time, and none after a failure: a tenant with slow name servers must not keep others waiting.
    for (let at = 0; at < names.length; at += HOST_LIMITS.together) {
      const some = names.slice(at, at + HOST_LIMITS.together);
      await Promise.all(some.map((name) => this.#places.run(() => this.#prove(prover, name, claimant.owner))));
    }
  }

  async #prove(prover: HostProver, host: string, owner: string): Promise<void> {
    const { registry, onLost, clock = systemClock } = this.#options;
    if (!this.#asked.take(owner, clock.now())) throw ingressErrors.askedTooOften(`"${host}"`);
    const proof = await prover.prove(host, owner);
    if (proof === "unknown") throw ingressErrors.dnsAway(`"${host}"`);
    if (proof === "no") throw ingressErrors.hostUnproven(`"${host}"`, { hint: this.#remedy(host, owner) });
    const rival = registry.ownerOf(host);
    if (rival === undefined || rival === owner) return;
    // A missing answer takes no name away from anybody.
    if ((await prover.prove(host, rival)) !== "no") return;
    const holder = registry.forfeit(host, rival);
    if (holder !== undefined) onLost(holder, host);
  }

  #remedy(host: string, owner: string): string {
    const alias = this.#options.aliasOf(owner);
    const txt = `add the DNS record ${CHALLENGE_LABEL}.${host} TXT "${owner}"`;
    return alias === undefined ? txt : `${txt}, or make ${host} a CNAME of ${alias}`;
  }
}
