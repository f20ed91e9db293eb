import type { IncomingMessage } from "node:http";
import { isBound, TOKEN_LEEWAY, type TokenClaims, type TokenLeases, type TokenScope } from "../../../crypto/index.ts";
import { isOneOf } from "../../../util/index.ts";
import { RateLimit } from "../../../util/servers/index.ts";
import type { LeaseKey, OrderNumbers } from "../../../wire/index.ts";
import type { ChainView } from "../../chain.ts";
import { leaseErrors } from "../../leases/index.ts";
import { gatewayErrors } from "../errors.ts";
import type { GatewayLimits } from "../limits.ts";
import { type Credential, type CredentialCarrier, findCredential, readCredential } from "./credential.ts";
import { ChainFacts } from "./facts.ts";
import { authenticate, type Principal } from "./principal.ts";

/** The action of a route, and the lease it concerns. */
export interface Access extends OrderNumbers {
  readonly scope: TokenScope;
  /** Services it is about; empty for all. */
  readonly services: readonly string[];
  /** A token may be used for this only once. */
  readonly once?: boolean;
}

/** A request that is allowed, and the check that it still is. */
export interface Grant {
  readonly owner: string;
  /** The lease, if the path names one. */
  readonly lease: LeaseKey | undefined;
  /** Milliseconds since 1970 at which the credential ends. */
  readonly endsAt: number;
  /** Rejects with the refusal when the same request would no longer be allowed. */
  recheck(): Promise<void>;
}

/** Who asks for something that the body of the request names. */
export interface Admission {
  readonly owner: string;
  /** Rejects with the refusal unless the credential allows the requested access to this lease. */
  permit(lease: LeaseKey): Promise<void>;
}

/** A caller of public routes. */
export interface Caller {
  /** The account, or the network of the host where no credential was shown. */
  readonly name: string;
  /** Rejects with the refusal when a presented credential is no longer valid. */
  recheck(): Promise<void>;
}

export interface AuthorizerOptions {
  readonly provider: string;
  readonly chain: ChainView;
  readonly limits: GatewayLimits;
  /** The network from which a request came. */
  readonly networkOf: (request: CredentialCarrier) => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Actions that make the engine start processes. */
const STARTS: ReadonlySet<Access["scope"]> = new Set(["restart", "shell"]);
/** Actions that change nothing; a token without provider or number, as other tools of the ecosystem make it, allows no more. */
const READS: ReadonlySet<Access["scope"]> = new Set(["status", "logs", "events", "get-manifest"]);

/** Decides every request by itself, from the credential it came with and the state of the chain at that moment. */
export class Authorizer {
  readonly #options: AuthorizerOptions;
  readonly #facts: ChainFacts;
  readonly #replays: Replays;
  readonly #rate: RateLimit;
  readonly #starts: RateLimit;
  /** Credentials that were none, by the network that they came from. */
  readonly #failures: RateLimit;

  constructor(options: AuthorizerOptions) {
    const { chain, limits, now } = options;
    this.#options = options;
    this.#facts = new ChainFacts(chain, limits.chainAge, now);
    this.#replays = new Replays(Math.floor(now() / 1000));
    this.#rate = new RateLimit(limits.burst, limits.perSecond);
    this.#starts = new RateLimit(limits.startsBurst, limits.startsPerSecond);
    this.#failures = new RateLimit(limits.failures, limits.failuresPerSecond);
  }

  async authorize(request: IncomingMessage, access: Access): Promise<Grant> {
    const credential = readCredential(request);
    const { now } = this.#options;
    const principal = await this.#take(credential, request);
    await this.#check(principal, access);
    if (STARTS.has(access.scope) && !this.#starts.take(principal.owner, now())) {
      throw gatewayErrors.tooMany("too many shells and restarts");
    }
    if (access.once === true && principal.claims !== undefined) {
      this.#replays.use(principal.claims, Math.floor(now() / 1000));
    }
    return {
      owner: principal.owner,
      lease: this.#leaseOf(principal.owner, access),
      endsAt: principal.endsAt,
      recheck: async () => this.#check(await this.#authenticate(credential, { hasOpened: true }), access),
    };
  }

  /** For requests whose leases are known only after their body is read: each lease is permitted separately. */
  async admit(request: IncomingMessage, scope: TokenScope): Promise<Admission> {
    const principal = await this.#take(readCredential(request), request);
    const { provider } = this.#options;
    checkBound(principal, scope);
    if (!leasesOf(principal).every((leases) => mentions(leases, { provider, scope }))) throw gatewayErrors.scope();
    return {
      owner: principal.owner,
      permit: ({ dseq, gseq, oseq }) => this.#check(principal, { dseq, gseq, oseq, scope, services: [] }),
    };
  }

  async #take(credential: Credential, request: CredentialCarrier): Promise<Principal> {
    const principal = await this.#examine(credential, request);
    if (!this.#rate.take(principal.owner, this.#options.now())) throw gatewayErrors.tooMany();
    return principal;
  }

  /** Needs no credential, but one that is shown must be good. */
  async identify(request: CredentialCarrier): Promise<Caller> {
    const credential = findCredential(request);
    const { now, networkOf } = this.#options;
    const name = credential === undefined ? networkOf(request) : (await this.#examine(credential, request)).owner;
    if (!this.#rate.take(name, now())) throw gatewayErrors.tooMany();
    if (credential === undefined) return { name, recheck: async () => {} };
    return { name, recheck: async () => void (await this.#authenticate(credential)) };
  }

  /**
   * An invalid credential costs a signature check or a question to the node, so each network has a limited number of
   * failures. A valid credential, or one that cannot be judged because the node is away, is refunded.
   */
  async #examine(credential: Credential, request: CredentialCarrier): Promise<Principal> {
    const network = this.#options.networkOf(request);
    if (!this.#failures.take(network, this.#options.now()))
      throw gatewayErrors.tooMany("too many credentials from your network were refused");
    try {
      const principal = await this.#authenticate(credential);
      this.#failures.giveBack(network);
      return principal;
    } catch (error) {
      if (isOneOf([gatewayErrors.chainUnreachable], error)) this.#failures.giveBack(network);
      throw error;
    }
  }

  #authenticate(credential: Credential, { hasOpened = false } = {}): Promise<Principal> {
    const { provider, now } = this.#options;
    return authenticate(credential, { facts: this.#facts, provider, now: now(), hasOpened });
  }

  async #check(principal: Principal, access: Access): Promise<void> {
    const { provider } = this.#options;
    checkBound(principal, access.scope);
    if (!leasesOf(principal).every((leases) => allows(leases, { ...access, provider }))) throw gatewayErrors.scope();
    const lease = this.#leaseOf(principal.owner, access);
    // An account that is not the owner gets the same answer as for a lease that never existed.
    if (lease !== undefined && !(await this.#facts.isActive(lease))) throw leaseErrors.notFound();
  }

  /** The owner is always the account of the credential: no path names another. */
  #leaseOf(owner: string, { dseq, gseq, oseq }: Access): LeaseKey | undefined {
    if (gseq === undefined || oseq === undefined) return undefined;
    return { owner, dseq, gseq, oseq, provider: this.#options.provider };
  }
}

/**
 * Used single-use tokens. The daemon does not know which tokens were used before it started, so tokens issued before
 * then are refused.
 */
export class Replays {
  readonly #since: number;
  readonly #used = new Map<string, number>();

  /** `since`: seconds since 1970. */
  constructor(since: number) {
    this.#since = since;
  }

  /** Uses a token up; throws `replayed` if it was used before. */
  use({ iss, jti, iat, exp }: TokenClaims, now: number): void {
    for (const [key, end] of this.#used) if (end < now) this.#used.delete(key);
    const key = `${iss}/${jti ?? ""}`;
    if (this.#used.has(key) || iat < this.#since) throw gatewayErrors.replayed();
    this.#used.set(key, exp + TOKEN_LEEWAY);
  }
}

function checkBound({ claims }: Principal, scope: TokenScope): void {
  if (claims !== undefined && !isBound(claims) && !READS.has(scope)) throw gatewayErrors.unbound();
}

/** Everything that has to allow a request: the token, and the session that it belongs to. */
function leasesOf({ claims, session }: Principal): readonly TokenLeases[] {
  return [claims, session].flatMap((each) => (each === undefined ? [] : [each.leases]));
}

/** The access that a request wants. Without `gseq` it concerns all leases of the deployment here. */
export interface Wanted extends OrderNumbers {
  readonly provider: string;
  readonly scope: TokenScope;
  /** Services it is about; empty for all. */
  readonly services: readonly string[];
}

type Permission = Extract<TokenLeases, { access: "granular" }>["permissions"][number];
type Granted = NonNullable<Permission["deployments"]>[number];

/** Whether a token allows the request; it allows only what it mentions. */
export function allows(leases: TokenLeases, wanted: Wanted): boolean {
  if (leases.access === "full") return true;
  if (leases.access === "scoped") return leases.scope.includes(wanted.scope);
  const permission = leases.permissions.find(({ provider }) => provider === wanted.provider);
  if (permission === undefined) return false;
  if (permission.access === "full") return true;
  if (permission.access === "scoped") return permission.scope?.includes(wanted.scope) === true;
  return permission.deployments?.some((granted) => covers(granted, wanted)) === true;
}

/** Whether a token allows the action on anything at all at the provider. */
export function mentions(leases: TokenLeases, { provider, scope }: Pick<Wanted, "provider" | "scope">): boolean {
  if (leases.access === "full") return true;
  if (leases.access === "scoped") return leases.scope.includes(scope);
  const permission = leases.permissions.find((each) => each.provider === provider);
  if (permission === undefined) return false;
  if (permission.access === "full") return true;
  if (permission.access === "scoped") return permission.scope?.includes(scope) === true;
  return (
    permission.deployments?.some((granted) => granted.scope === undefined || granted.scope.includes(scope)) === true
  );
}

function covers({ dseq, gseq, oseq, scope, services }: Granted, wanted: Wanted): boolean {
  if (BigInt(dseq) !== wanted.dseq) return false;
  if (gseq !== undefined && gseq !== wanted.gseq) return false;
  if (oseq !== undefined && oseq !== wanted.oseq) return false;
  if (scope !== undefined && !scope.includes(wanted.scope)) return false;
  if (services === undefined) return true;
  return wanted.services.length > 0 && wanted.services.every((name) => services.includes(name));
}
