import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, errorText, type Logger, makePrivateDirectory, replaceFile, smallest } from "../../util/index.ts";
import { type HostCertificate, readCertificate } from "../ingress/index.ts";
import { AuthorityBusy, type Issuer } from "./issuer.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** When certificates are asked for; milliseconds. */
export const KEEPING = {
  /** A pause before the first order of a host name, so that a provider in a restart loop orders nothing. */
  settle: 5_000,
  /** Two orders are at least this far apart: authorities allow some hundreds in three hours. */
  apart: 36_000,
  /** After a failure, then twice as long each time: authorities allow five failures an hour for a name. */
  again: { first: 15 * MINUTE_MS, most: DAY_MS },
  /** An order that takes longer is given up. */
  order: 5 * MINUTE_MS,
  /** A certificate is renewed when a third of its time is left (RFC 8555 asks for time to try again). */
  renewShare: 1 / 3,
  /** Random part of a wait, so that not all names are renewed at once. */
  jitter: 0.1,
  /** Orders count against their tenant for as long as authorities count them. */
  counted: 180 * MINUTE_MS,
  /** How often the times are checked. */
  look: 60 * MINUTE_MS,
} as const;

/** The provider among the owners of host names: the certificate of its own name is ordered after tenants' certificates. */
export const OURSELVES = "";

const SUFFIX = ".pem";

/** Maximum kept certificates, including those of hosts that are gone. */
export const MAX_KEPT = 5_000;

export interface KeeperOptions {
  /** Where certificates are kept, one file `HOST.pem` each, readable by the provider alone. */
  readonly folder: string;
  readonly issuer: Issuer;
  /** Whether the host has a certificate that others keep. */
  readonly isCovered: (host: string) => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** A lease, and the account whose orders are counted together. */
export interface CertificateHolder {
  readonly lease: string;
  readonly owner: string;
}

interface Kept {
  /** Owners of the leases that have the host, by lease. */
  readonly leases: Map<string, string>;
  /** When to ask for a certificate. */
  due: number;
  failures: number;
  /** When the certificate that it has ends; 0 if it has none. */
  until: number;
}

/** Host names by the state of their certificates. */
export interface CertificateCounts {
  /** Hosts with a certificate, ours or the operator's. */
  readonly ok: number;
  /** Hosts whose first order is still to come. */
  readonly waiting: number;
  /** Hosts whose last order failed, with or without a certificate in use. */
  readonly failing: number;
}

/**
 * The pause after an order, so that a certificate that ends soon is not ordered again and again; one of a few minutes is
 * renewed in time all the same.
 */
function restAfter(left: number): number {
  return left > 2 * KEEPING.apart ? Math.min(KEEPING.again.first, left / 2) : KEEPING.again.first;
}

/** Gets and renews a certificate for every host name that is served. */
export class CertificateKeeper {
  readonly #options: KeeperOptions;
  readonly #hosts = new Map<string, Kept>();
  /** Orders by owner: counting by lease would reset the count with each new lease. */
  readonly #orders = new Map<string, { readonly count: number; readonly at: number }>();
  readonly #stop = new AbortController();
  /** The host that is asked for now. */
  #ordering: string | undefined;
  #next = 0;
  #swept: number;
  #cancel: (() => void) | undefined;
  #working: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#swept = options.clock.now();
    makePrivateDirectory(options.folder);
  }

  /** The lease has exactly these host names from now on. */
  async want(holder: CertificateHolder, hosts: readonly string[]): Promise<void> {
    const { lease } = holder;
    const wanted = new Set(hosts.filter(isPublicName));
    for (const host of this.#ofLease(lease)) if (!wanted.has(host)) this.#leave(lease, host);
    for (const host of wanted) this.#enter(holder, host);
    if (this.#options.issuer.isPrompt) await this.#work();
    this.#schedule();
  }

  drop(lease: string): void {
    for (const host of this.#ofLease(lease)) this.#leave(lease, host);
  }

  /** Nothing is written any more when it resolves. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancel?.();
    await this.#working;
  }

  /** Numbers of host names, for monitoring. */
  counts(): CertificateCounts {
    const counts = { ok: 0, waiting: 0, failing: 0 };
    for (const [host, { leases, failures, until }] of this.#hosts) {
      if (leases.size === 0) continue;
      if (failures > 0) counts.failing += 1;
      else if (until > 0 || this.#options.isCovered(host)) counts.ok += 1;
      else counts.waiting += 1;
    }
    return counts;
  }

  #ofLease(lease: string): string[] {
    return [...this.#hosts].filter(([, { leases }]) => leases.has(lease)).map(([host]) => host);
  }

  /** A name that failed is remembered until its wait is over: giving it up and taking it again starts no new attempt. */
  #leave(lease: string, host: string): void {
    const kept = this.#hosts.get(host);
    kept?.leases.delete(lease);
    if (kept?.leases.size === 0 && kept.failures === 0 && host !== this.#ordering) this.#hosts.delete(host);
  }

  #enter({ lease, owner }: CertificateHolder, host: string): void {
    const { clock, issuer } = this.#options;
    this.#forget(clock.now());
    const kept = this.#hosts.get(host);
    if (kept !== undefined) {
      kept.leases.set(lease, owner);
      return;
    }
    const held = this.#read(host);
    const pause = owner === OURSELVES ? KEEPING.settle + KEEPING.apart : KEEPING.settle;
    const settle = issuer.isPrompt ? 0 : this.#vary(pause);
    const due = Math.max(held === undefined ? 0 : this.#renewal(held), clock.now() + settle);
    this.#hosts.set(host, { leases: new Map([[lease, owner]]), due, failures: 0, until: held?.notAfter ?? 0 });
  }

  /** Removes failures of released names, and orders that authorities no longer count. */
  #forget(now: number): void {
    for (const [host, { leases, due }] of this.#hosts) {
      if (leases.size === 0 && due <= now && host !== this.#ordering) this.#hosts.delete(host);
    }
    for (const [owner, { at }] of this.#orders) if (now - at >= KEEPING.counted) this.#orders.delete(owner);
  }

  /** One host after the other; a call that comes meanwhile is part of it. */
  #work(): Promise<void> {
    this.#working ??= this.#workAll().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  async #workAll(): Promise<void> {
    const { clock, issuer } = this.#options;
    for (;;) {
      const now = clock.now();
      if (this.#stop.signal.aborted || (!issuer.isPrompt && now < this.#next)) return;
      const due = this.#mostUrgent(now);
      if (due === undefined) return;
      await this.#obtain(...due);
    }
  }

  /**
   * Failed names come last, preceded by names of tenants with many orders, so that a tenant with hundreds of names
   * delays only itself.
   */
  #mostUrgent(now: number): readonly [string, Kept] | undefined {
    let chosen: readonly [string, Kept] | undefined;
    for (const each of this.#hosts) {
      const [, { leases, due }] = each;
      if (leases.size > 0 && due <= now && (chosen === undefined || this.#isBefore(each[1], chosen[1]))) chosen = each;
    }
    return chosen;
  }

  #isBefore(one: Kept, other: Kept): boolean {
    if (one.failures !== other.failures) return one.failures < other.failures;
    return this.#turn(one) < this.#turn(other);
  }

  #turn({ leases }: Kept): number {
    const others = [...leases.values()].filter((owner) => owner !== OURSELVES);
    const counts = others.map((owner) => this.#orders.get(owner)?.count ?? 0);
    return smallest(counts, Number.POSITIVE_INFINITY);
  }

  async #obtain(host: string, kept: Kept): Promise<void> {
    const { clock, issuer, isCovered, log } = this.#options;
    if (isCovered(host)) {
      kept.due = clock.now() + this.#vary(KEEPING.look);
      return;
    }
    this.#next = clock.now() + this.#vary(KEEPING.apart);
    this.#countOrder(kept);
    this.#ordering = host;
    const limit = new AbortController();
    const cancel = clock.after(KEEPING.order, () => limit.abort(new Error("the authority took too long")));
    try {
      const { chain, key } = await issuer.issue(host, AbortSignal.any([this.#stop.signal, limit.signal]));
      const held = this.#write(host, `${chain}${key}`);
      kept.failures = 0;
      kept.until = held.notAfter;
      kept.due = Math.max(this.#renewal(held), clock.now() + this.#vary(restAfter(held.notAfter - clock.now())));
      log.info("certificate made", { host, until: new Date(held.notAfter).toISOString() });
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const wait = this.#afterFailure(kept, error);
      log.warn("no certificate for a host name, trying again", {
        host,
        err: errorText(error),
        minutes: Math.ceil(wait / MINUTE_MS),
      });
    } finally {
      cancel();
      this.#ordering = undefined;
      if (kept.leases.size === 0 && kept.failures === 0) this.#hosts.delete(host);
    }
  }

  #countOrder({ leases }: Kept): void {
    const at = this.#options.clock.now();
    this.#forget(at);
    for (const owner of new Set(leases.values())) {
      this.#orders.set(owner, { count: (this.#orders.get(owner)?.count ?? 0) + 1, at });
    }
  }

  /** Milliseconds until the next try. */
  #afterFailure(kept: Kept, error: unknown): number {
    const { clock } = this.#options;
    const { first, most } = KEEPING.again;
    if (error instanceof AuthorityBusy) {
      const wait = this.#vary(Math.min(error.waitMs, most));
      this.#next = Math.max(this.#next, clock.now() + wait);
      return wait;
    }
    const usual = Math.min(first * 2 ** kept.failures, most);
    const left = kept.until - clock.now();
    // A certificate in use must be renewed before it expires.
    const wait = this.#vary(left > 0 ? Math.max(Math.min(usual, left / 2), KEEPING.apart) : usual);
    kept.failures++;
    kept.due = clock.now() + wait;
    return wait;
  }

  /** An invalid certificate never replaces a valid one. */
  #write(host: string, text: string): HostCertificate {
    const { folder } = this.#options;
    this.#makeRoom();
    const fresh = join(folder, `.new-${host}`);
    try {
      replaceFile(fresh, text);
      const held = readCertificate({ certificate: fresh, key: fresh });
      if (!held.names.includes(host)) throw new Error("the authority gave a certificate for another name");
      replaceFile(this.#path(host), text);
      return held;
    } finally {
      rmSync(fresh, { force: true });
    }
  }

  /** Removes certificates that are due for renewal and whose hosts were unused since the last look. */
  #sweep(now: number): void {
    if (now - this.#swept < KEEPING.look) return;
    this.#swept = now;
    for (const host of this.#keptHosts()) {
      const held = this.#hosts.has(host) ? undefined : this.#read(host);
      if (held !== undefined && this.#renewal(held) <= now) rmSync(this.#path(host), { force: true });
    }
  }

  #keptHosts(): string[] {
    const names = readdirSync(this.#options.folder).filter((name) => name.endsWith(SUFFIX) && !name.startsWith("."));
    return names.map((name) => name.slice(0, -SUFFIX.length));
  }

  /** Removes certificates of unused hosts to make room for new ones. */
  #makeRoom(): void {
    const hosts = this.#keptHosts();
    if (hosts.length < MAX_KEPT) return;
    for (const host of hosts) if (!this.#hosts.has(host)) rmSync(this.#path(host), { force: true });
  }

  /** Undefined if there is none, or none that can be used. */
  #read(host: string): HostCertificate | undefined {
    const path = this.#path(host);
    try {
      return readCertificate({ certificate: path, key: path });
    } catch {
      return undefined;
    }
  }

  #path(host: string): string {
    return join(this.#options.folder, `${host}${SUFFIX}`);
  }

  #renewal({ notBefore, notAfter }: HostCertificate): number {
    return notAfter - this.#vary((notAfter - notBefore) * KEEPING.renewShare);
  }

  #vary(milliseconds: number): number {
    return Math.round(milliseconds * (1 + this.#options.random() * KEEPING.jitter));
  }

  #schedule(): void {
    const { clock } = this.#options;
    this.#cancel?.();
    this.#cancel = undefined;
    const times = [...this.#hosts.values()].flatMap(({ leases, due }) => (leases.size === 0 ? [] : [due]));
    if (this.#stop.signal.aborted || times.length === 0) return;
    const first = smallest(times, Number.POSITIVE_INFINITY);
    const wait = Math.min(Math.max(first, this.#next) - clock.now(), KEEPING.look);
    this.#cancel = clock.after(Math.max(wait, 0), () => {
      this.#cancel = undefined;
      this.#sweep(clock.now());
      void this.#work().then(() => this.#schedule());
    });
  }
}

/** Names of one label mean something else on every machine. */
function isPublicName(host: string): boolean {
  return host.includes(".");
}
