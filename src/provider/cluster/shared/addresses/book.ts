import type { ManifestGroup } from "../../../../sdl/index.ts";
import { Mutex } from "../../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../../wire/index.ts";
import {
  areSisters,
  type ClusterAddresses,
  clusterErrors,
  externalPort,
  isLeasedIpExpose,
  type LeasedAddress,
} from "../../contract/index.ts";

/** Leases of one deployment, the first claimant first. */
export type Holders = readonly [LeaseKey, ...LeaseKey[]];

/** An address that leases have. */
export interface Holding {
  /** Name of the address, one for each owner. */
  readonly endpoint: string;
  readonly address: string;
  readonly leases: Holders;
}

/** Durable storage of holdings. A call's change is made when it resolves, and may be made when it rejects. */
export interface AddressLedger {
  /** Notes a holding; repeating it changes nothing. False if another holder has the address. */
  take(holding: Holding): Promise<boolean>;
  /** Replaces the address's leases. False if it has neither the old nor the new ones. */
  change(from: Holding, to: Holding): Promise<boolean>;
  /** The address is free, and nothing leads from it to the leases any more. */
  free(holding: Holding): Promise<void>;
}

export interface AddressBookOptions {
  /** Addresses to give out. */
  readonly pool: readonly string[];
  readonly ledger: AddressLedger;
  /** Tells which addresses of the pool have users besides leases. */
  readonly foreign?: () => (address: string) => boolean;
}

/**
 * Who has which address. Changes are made one at a time, in the ledger first. An address that was given back is given out
 * again last, so that clients of the old lease do not meet the new one.
 */
export class AddressBook implements ClusterAddresses {
  readonly #options: AddressBookOptions;
  readonly #holdings = new Map<string, Holding>();
  /**
   * By address, holdings being removed from the ledger that may still be there: a call had no answer, or a crash came
   * in between.
   */
  readonly #leaving = new Map<string, Holding>();
  /** By address, changes that may be in the ledger by now. */
  readonly #changing = new Map<string, readonly [from: Holding, to: Holding]>();
  readonly #turn = new Mutex();
  #next = 0;

  constructor(options: AddressBookOptions, holdings: readonly Holding[] = []) {
    this.#options = options;
    for (const each of holdings) {
      const other = this.#find(ownerOf(each), each.endpoint);
      if (other !== undefined) this.#leaving.set(other.address, other);
      this.#note(each);
    }
  }

  claim(id: LeaseKey, endpoints: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const claimed: string[] = [];
      try {
        for (const endpoint of endpoints) if (await this.#claim(id, endpoint)) claimed.push(endpoint);
      } catch (error) {
        for (const endpoint of claimed) await this.#leave(id, endpoint).catch(() => {});
        throw error;
      }
    });
  }

  retain(id: LeaseKey, endpoints: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const endpoint of this.heldBy(id)) if (!endpoints.includes(endpoint)) await this.#leave(id, endpoint);
    });
  }

  migrate(to: LeaseKey, endpoints: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const endpoint of endpoints) {
        const from = await this.#certain(to.owner, endpoint);
        if (from === undefined || has(from, to)) continue;
        const leases: Holders = from.leases.every((each) => areSisters(each, to)) ? [...from.leases, to] : [to];
        await this.#change(from, { ...from, leases });
      }
    });
  }

  heldBy(id: LeaseKey): readonly string[] {
    return this.held(id).map(({ endpoint }) => endpoint);
  }

  held(id: LeaseKey): readonly Holding[] {
    return this.all().filter((each) => has(each, id));
  }

  /** Leases that have an address. */
  holders(): LeaseKey[] {
    return [...new Map(this.all().flatMap(({ leases }) => leases.map((id) => [formatLeaseId(id), id]))).values()];
  }

  all(): readonly Holding[] {
    return [...this.#holdings.values()];
  }

  holdersOf(owner: string, endpoint: string): readonly LeaseKey[] {
    return this.#find(owner, endpoint)?.leases ?? [];
  }

  /** One change after the other. Unfinished earlier changes are completed first, as far as possible. */
  #inTurn(task: () => Promise<void>): Promise<void> {
    return this.#turn.run(async () => {
      for (const [from, to] of [...this.#changing.values()]) await this.#change(from, to).catch(() => {});
      for (const holding of [...this.#leaving.values()]) await this.#free(holding).catch(() => {});
      await task();
    });
  }

  /** Whether the lease has an address by this that it had not before. */
  async #claim(id: LeaseKey, endpoint: string): Promise<boolean> {
    const known = await this.#certain(id.owner, endpoint);
    if (known === undefined) {
      this.#note(await this.#take(id, endpoint));
      return true;
    }
    if (has(known, id) || !known.leases.every((each) => areSisters(each, id))) return false;
    await this.#change(known, { ...known, leases: [...known.leases, id] });
    return true;
  }

  async #leave(id: LeaseKey, endpoint: string): Promise<void> {
    const known = this.#find(id.owner, endpoint);
    if (known === undefined) return;
    const [from, to] = this.#changing.get(known.address) ?? [];
    if (from !== undefined && to !== undefined) await this.#change(from, to);
    const now = this.#find(id.owner, endpoint);
    if (now === undefined || !has(now, id)) return;
    const [first, ...more] = now.leases.filter((each) => !isSame(each, id));
    if (first === undefined) await this.#free(now);
    else await this.#change(now, { ...now, leases: [first, ...more] });
  }

  /** The holding that the ledger has for certain; one that was to go and could not is wanted again. */
  async #certain(owner: string, endpoint: string): Promise<Holding | undefined> {
    const known = this.#find(owner, endpoint);
    if (known === undefined) return undefined;
    const [from, to] = this.#changing.get(known.address) ?? [];
    if (from !== undefined && to !== undefined) await this.#change(from, to);
    const holding = this.#find(owner, endpoint);
    if (holding === undefined || this.#leaving.get(holding.address) !== holding) return holding;
    const isTaken = await this.#options.ledger.take(holding);
    this.#leaving.delete(holding.address);
    if (isTaken) return holding;
    this.#forget(holding);
    return undefined;
  }

  /** Without an answer it is made again before anything else. */
  async #change(from: Holding, to: Holding): Promise<void> {
    this.#changing.set(from.address, [from, to]);
    const isChanged = await this.#options.ledger.change(from, to);
    this.#changing.delete(from.address);
    if (isChanged) this.#note(to);
    else this.#forget(from);
  }

  async #free(holding: Holding): Promise<void> {
    this.#leaving.set(holding.address, holding);
    await this.#options.ledger.free(holding);
    this.#leaving.delete(holding.address);
    this.#forget(holding);
  }

  async #take(lease: LeaseKey, endpoint: string): Promise<Holding> {
    const { pool, ledger, foreign } = this.#options;
    const isForeign = foreign?.() ?? (() => false);
    const taken = new Set([...this.all().map(({ address }) => address), ...this.#leaving.keys()]);
    for (let tried = 0; tried < pool.length; tried++) {
      const address = pool[this.#next % pool.length] ?? "";
      this.#next = (this.#next + 1) % pool.length;
      if (taken.has(address) || isForeign(address)) continue;
      const holding: Holding = { endpoint, address, leases: [lease] };
      this.#leaving.set(address, holding);
      const isTaken = await ledger.take(holding);
      this.#leaving.delete(address);
      if (isTaken) return holding;
    }
    throw clusterErrors.noAddresses(`all ${pool.length} of the provider are taken`);
  }

  #find(owner: string, endpoint: string): Holding | undefined {
    return this.#holdings.get(keyOf(owner, endpoint));
  }

  #note(holding: Holding): void {
    this.#holdings.set(keyOf(ownerOf(holding), holding.endpoint), holding);
  }

  /** The name may have another address by now. */
  #forget(holding: Holding): void {
    const { address, endpoint } = holding;
    const owner = ownerOf(holding);
    if (this.#find(owner, endpoint)?.address === address) this.#holdings.delete(keyOf(owner, endpoint));
  }
}

/** Whether it is the same address under the same name, with the same leases in the same order. */
export function isSameHolding(one: Holding, other: Holding): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ address, endpoint, leases }: Holding): string {
  return [address, endpoint, ...leases.map(formatLeaseId)].join(" ");
}

function ownerOf({ leases: [{ owner }] }: Holding): string {
  return owner;
}

function has({ leases }: Holding, id: LeaseKey): boolean {
  return leases.some((each) => isSame(each, id));
}

/** No name of an address has a slash. */
function keyOf(owner: string, endpoint: string): string {
  return `${owner}/${endpoint}`;
}

function isSame(one: LeaseKey, other: LeaseKey): boolean {
  return formatLeaseId(one) === formatLeaseId(other);
}

/** The cluster's report about an address that should route to a service. */
export type AddressState = Pick<LeasedAddress, "assigned" | "problem">;

/** Every port of the addresses that the lease has, for its tenant. */
export function leasedAddresses(
  { services }: ManifestGroup,
  held: readonly Holding[],
  stateOf: (service: string, holding: Holding, port: string) => AddressState,
): LeasedAddress[] {
  return services.flatMap(({ name: service, expose }) =>
    expose.filter(isLeasedIpExpose).flatMap(({ ip, port, proto, ...rest }) => {
      const holding = held.find(({ endpoint }) => endpoint === ip);
      if (holding === undefined) return [];
      const outside = externalPort({ ip, port, proto, ...rest });
      const { address } = holding;
      const state = stateOf(service, holding, `${outside}/${proto}`);
      return [{ endpoint: ip, address, service, port, externalPort: outside, proto, ...state }];
    }),
  );
}

/** Why a port of the address, such as `53/UDP`, does not lead to the lease: a sister's port has it. */
export function portTaken(port: string): string {
  return `port ${port} of its IP address already leads to another group of this deployment: write another port with as:`;
}

/** For clusters without leased IP addresses. */
export const NO_ADDRESSES: ClusterAddresses = {
  async claim(_, endpoints) {
    if (endpoints.length > 0) throw clusterErrors.unsupported("leased IP addresses are not available here");
  },
  async retain() {},
  async migrate() {},
  heldBy: () => [],
  holdersOf: () => [],
};
