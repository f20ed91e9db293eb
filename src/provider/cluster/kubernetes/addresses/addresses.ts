import { errorText } from "../../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../../wire/index.ts";
import {
  areSisters,
  type ClusterAddresses,
  type LeasedAddress,
  type LeaseSpec,
  leaseNamespace,
} from "../../contract/index.ts";
import { AddressBook, type AddressState, type Holding, leasedAddresses, portTaken } from "../../shared/index.ts";
import { ApiFailure } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { addressName, LABEL, leasedIpName, type Wanted } from "../objects/index.ts";
import type { ApiService } from "../view/balanced.ts";
import type { Refusal } from "../view/refusals.ts";
import { leading, ObjectLedger, removeServices } from "./ledger.ts";

/** The part of a lease that addresses need. */
interface AddressLease {
  /** Runs a pass soon. */
  poke(): void;
  /** Runs the task while no pass is under way. */
  between<T>(task: () => Promise<T>): Promise<T>;
}

type LeaseOf = (namespace: string) => AddressLease | undefined;

/**
 * Leased IP addresses on a cluster whose load balancer accepts requested addresses. The holders are recorded on the
 * cluster; the objects that lead from an address belong to the leases of one deployment.
 */
export class LeasedIps implements ClusterAddresses {
  readonly #context: DriverContext;
  readonly #pool: readonly string[];
  readonly #leaseOf: LeaseOf;
  readonly #ledger: ObjectLedger;
  #book: AddressBook;

  constructor(context: DriverContext, pool: readonly string[], leaseOf: LeaseOf) {
    this.#context = context;
    this.#pool = pool;
    this.#leaseOf = leaseOf;
    this.#ledger = new ObjectLedger(context);
    this.#book = this.#open([]);
  }

  /** Reads the records. A cluster without records has none; with a pool it must have them. */
  async start(): Promise<void> {
    try {
      this.#book = this.#open(await this.#ledger.load());
    } catch (error) {
      const isUnknown = error instanceof ApiFailure && error.kind !== "unreachable";
      if (!isUnknown || this.#pool.length > 0) throw error;
      this.#context.log.debug("the cluster has no records of leased addresses", { err: errorText(error) });
    }
  }

  /** How many of the pool leases can have: others use some of it. */
  get size(): number {
    const isForeign = this.#context.view.foreign();
    return this.#pool.filter((address) => !isForeign(address)).length;
  }

  /** Whether leases can ask for these, or have them already. */
  areAvailable(id: LeaseKey, endpoints: readonly string[]): boolean {
    const held = this.heldBy(id);
    return this.#pool.length > 0 || endpoints.every((each) => held.includes(each));
  }

  async claim(id: LeaseKey, endpoints: readonly string[]): Promise<void> {
    if (endpoints.length === 0) return;
    // A failed claim returns its addresses: no pass may lead there by then.
    await this.#between(id, () => this.#book.claim(id, endpoints));
    this.#poke(id);
  }

  async retain(id: LeaseKey, endpoints: readonly string[]): Promise<void> {
    if (this.#book.heldBy(id).every((each) => endpoints.includes(each))) return;
    await this.#between(id, () => this.#book.retain(id, endpoints));
    // Objects that led from an address kept by a sister are no longer wanted.
    this.#poke(id);
  }

  async migrate(to: LeaseKey, endpoints: readonly string[]): Promise<void> {
    for (const endpoint of endpoints) while (!(await this.#migrated(to, endpoint)));
  }

  /**
   * No pass of a lease that loses an address runs meanwhile, and the next one knows. False if the address was given to
   * other leases first: then those lose it.
   */
  async #migrated(to: LeaseKey, endpoint: string): Promise<boolean> {
    const losers = this.#losers(to, endpoint);
    const isMigrated = await this.#betweenAll(losers, async () => {
      if (textOf(this.#losers(to, endpoint)) !== textOf(losers)) return false;
      await this.#book.migrate(to, [endpoint]);
      return true;
    });
    for (const id of [...losers, to]) this.#poke(id);
    return isMigrated;
  }

  /** Leases of other deployments that have the address, in one order for all who wait for them. */
  #losers(to: LeaseKey, endpoint: string): readonly LeaseKey[] {
    const holders = this.holdersOf(to.owner, endpoint);
    if (holders.some((each) => areSisters(each, to))) return [];
    return [...holders].sort((a, b) => (formatLeaseId(a) < formatLeaseId(b) ? -1 : 1));
  }

  heldBy(id: LeaseKey): readonly string[] {
    return this.#book.heldBy(id);
  }

  held(id: LeaseKey): readonly Holding[] {
    return this.#book.held(id);
  }

  holdersOf(owner: string, endpoint: string): readonly LeaseKey[] {
    return this.#book.holdersOf(owner, endpoint);
  }

  /** Leases that have an address. */
  holders(): readonly LeaseKey[] {
    return this.#book.holders();
  }

  /** Gives back what the lease of a namespace has, once nothing else of the lease is left. */
  async release(namespace: string): Promise<void> {
    for (const id of this.holders()) if (leaseNamespace(id) === namespace) await this.#book.retain(id, []);
  }

  async releaseAll(): Promise<void> {
    for (const id of this.holders()) await this.#book.retain(id, []);
  }

  /** The tenant's view of the lease's addresses; `errorOf` tells the fault of a service. */
  status(
    { id, group }: Pick<LeaseSpec, "id" | "group">,
    errorOf: (service: string) => string | undefined = () => undefined,
  ): readonly LeasedAddress[] {
    const namespace = leaseNamespace(id);
    const { view } = this.#context;
    const stateOf = (service: string, { endpoint, address }: Holding): AddressState => {
      const name = leasedIpName(service, endpoint);
      const given = view.balanced(namespace, name);
      if (given.includes(address)) return { assigned: true };
      const refusal = () => refusalText(view.addressRefusal(namespace, name));
      const problem = given.length > 0 ? GIVEN_ANOTHER : (errorOf(service) ?? refusal() ?? NOT_GIVEN);
      return { assigned: false, problem: this.#context.host.hide(problem) };
    };
    return leasedAddresses(group, this.held(id), stateOf);
  }

  /** Why the object cannot be applied yet: another object of its address must go first. */
  async obstacle({ object }: Wanted): Promise<string | undefined> {
    const { namespace = "", labels = {} } = object.metadata;
    if (labels[LABEL.address] === undefined) return undefined;
    const holding = this.#book.all().find((each) => namespacesOf(each).has(namespace) && isOf(labels, each));
    if (holding === undefined) return "its IP address was given to another lease";
    const found = await leading(this.#context, holding.address);
    const others = found.filter(({ metadata }) => !namespacesOf(holding).has(metadata.namespace ?? ""));
    await removeServices(this.#context, others);
    if (others.length > 0) return `${holding.address} still routes to the lease that had it before`;
    const ofSisters = found.filter(({ metadata }) => metadata.namespace !== namespace);
    return takenPort(ofSisters, object as ApiService);
  }

  #open(holdings: readonly Holding[]): AddressBook {
    const foreign = () => this.#context.view.foreign();
    return new AddressBook({ pool: this.#pool, ledger: this.#ledger, foreign }, holdings);
  }

  #poke(id: LeaseKey): void {
    this.#leaseOf(leaseNamespace(id))?.poke();
  }

  #betweenAll<T>(leases: readonly LeaseKey[], task: () => Promise<T>): Promise<T> {
    const [first, ...rest] = leases;
    return first === undefined ? task() : this.#between(first, () => this.#betweenAll(rest, task));
  }

  #between<T>(id: LeaseKey, task: () => Promise<T>): Promise<T> {
    this.#context.log.debug("addresses of a lease change", { lease: formatLeaseId(id) });
    return this.#leaseOf(leaseNamespace(id))?.between(task) ?? task();
  }
}

/** A port of the address leads to one lease: load balancers do not give it to a second one. */
function takenPort(others: readonly ApiService[], { spec }: ApiService): string | undefined {
  const taken = new Set(others.flatMap((each) => (each.spec?.ports ?? []).map(portText)));
  const port = (spec?.ports ?? []).map(portText).find((text) => taken.has(text));
  return port === undefined ? undefined : portTaken(port);
}

function portText({ port, protocol }: { readonly port?: number; readonly protocol?: string }): string {
  return `${port}/${protocol}`;
}

function namespacesOf({ leases }: Holding): ReadonlySet<string> {
  return new Set(leases.map(leaseNamespace));
}

function textOf(leases: readonly LeaseKey[]): string {
  return leases.map(formatLeaseId).join(" ");
}

const GIVEN_ANOTHER = "the provider's load balancer gave the service another address in its place; ask the provider";
const NOT_GIVEN = "the provider's load balancer has not given it to the service yet; ask the provider if that lasts";

function isOf(labels: Readonly<Record<string, string>>, { address }: Holding): boolean {
  return labels[LABEL.address] === addressName(address);
}

/** MetalLB's messages about addresses, in the order of their priority. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/\bin use\b|\bsharing\b/, "somebody else on the provider's cluster has it"],
  [
    /not allowed in config|not compatible|no available IPs|no suitable pool/,
    "the provider's load balancer does not hand it out",
  ],
];
const UNKNOWN = "the provider's load balancer refuses it";

/**
 * Why a service does not get its address, for its tenant: load balancers name other owners' services and the cluster's
 * pools.
 */
function refusalText(refusal: Pick<Refusal, "reason" | "message"> | undefined): string | undefined {
  if (refusal === undefined) return undefined;
  const { reason, message } = refusal;
  const [, meaning = UNKNOWN] = MEANINGS.find(([pattern]) => pattern.test(message)) ?? [];
  return `${meaning} (${reason}); ask the provider`;
}
