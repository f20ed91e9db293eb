import { Mutex } from "../../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../../wire/index.ts";
import { type ClusterAddresses, clusterErrors } from "../../contract/index.ts";

/** An address that a lease has. */
export interface Holding {
  /** Name of the address, one for each owner. */
  readonly endpoint: string;
  readonly address: string;
  readonly lease: LeaseKey;
}

/** Where holdings outlive the process. What a call asked for is so when it resolves, and may be when it rejects. */
export interface AddressLedger {
  /** Notes a holding; the same again changes nothing. False where somebody else has the address. */
  take(holding: Holding): Promise<boolean>;
  /** The address is now this lease's, and no longer that of the lease that had it. False where neither of them has it. */
  move(from: Holding, to: Holding): Promise<boolean>;
  /** The lease does not have the address, and nothing leads from it to the lease any more. */
  free(holding: Holding): Promise<void>;
}

export interface AddressBookOptions {
  /** Addresses to give out. */
  readonly pool: readonly string[];
  readonly ledger: AddressLedger;
  /** Tells which addresses of the pool somebody besides leases uses now. */
  readonly foreign?: () => (address: string) => boolean;
}

/**
 * Who has which address. Changes are made one at a time, in the ledger first. An address that was given back is given out
 * again last, so that clients of the old lease do not meet the new one.
 */
export class AddressBook implements ClusterAddresses {
  readonly #options: AddressBookOptions;
  readonly #holdings = new Map<string, Holding>();
  /** By address, what is to go from the ledger and may still be there: a call had no answer, or a crash came between two. */
  readonly #leaving = new Map<string, Holding>();
  /** By address, moves that may be in the ledger by now. */
  readonly #moving = new Map<string, readonly [from: Holding, to: Holding]>();
  readonly #turn = new Mutex();
  #next = 0;

  constructor(options: AddressBookOptions, holdings: readonly Holding[] = []) {
    this.#options = options;
    for (const each of holdings) {
      const other = this.#find(each.lease, each.endpoint);
      if (other !== undefined) this.#leaving.set(other.address, other);
      this.#note(each);
    }
  }

  claim(id: LeaseKey, endpoints: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const taken: Holding[] = [];
      try {
        for (const endpoint of endpoints) {
          const known = this.#find(id, endpoint);
          if (known !== undefined && (await this.#isStill(known))) continue;
          const holding = await this.#take(id, endpoint);
          this.#note(holding);
          taken.push(holding);
        }
      } catch (error) {
        for (const holding of taken) await this.#free(holding).catch(() => {});
        throw error;
      }
    });
  }

  retain(id: LeaseKey, endpoints: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const others = this.held(id).filter(({ endpoint }) => !endpoints.includes(endpoint));
      for (const holding of others) {
        const [from, to] = this.#moving.get(holding.address) ?? [];
        if (from !== undefined && to !== undefined) await this.#move(from, to);
        else await this.#free(holding);
      }
    });
  }

  move(to: LeaseKey, endpoints: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const endpoint of endpoints) {
        const from = this.#find(to, endpoint);
        if (from === undefined || !(await this.#isStill(from)) || isSame(from.lease, to)) continue;
        await this.#move(from, { ...from, lease: to });
      }
    });
  }

  heldBy(id: LeaseKey): readonly string[] {
    return this.held(id).map(({ endpoint }) => endpoint);
  }

  held(id: LeaseKey): readonly Holding[] {
    return this.all().filter(({ lease }) => isSame(lease, id));
  }

  /** Leases that have an address. */
  holders(): LeaseKey[] {
    return [...new Map(this.all().map(({ lease }) => [formatLeaseId(lease), lease])).values()];
  }

  all(): readonly Holding[] {
    return [...this.#holdings.values()];
  }

  holderOf(owner: string, endpoint: string): LeaseKey | undefined {
    return this.#find({ owner }, endpoint)?.lease;
  }

  /** One change after the other. What is left of those before is done first, as far as that is possible. */
  #inTurn(task: () => Promise<void>): Promise<void> {
    return this.#turn.run(async () => {
      for (const [from, to] of [...this.#moving.values()]) await this.#move(from, to).catch(() => {});
      for (const holding of [...this.#leaving.values()]) await this.#free(holding).catch(() => {});
      await task();
    });
  }

  /** Whether the ledger has the holding for certain; one that was to go and could not is wanted again. */
  async #isStill(holding: Holding): Promise<boolean> {
    const [from, to] = this.#moving.get(holding.address) ?? [];
    if (from !== undefined && to !== undefined) await this.#move(from, to);
    if (this.#leaving.get(holding.address) !== holding) return true;
    const isTaken = await this.#options.ledger.take(holding);
    this.#leaving.delete(holding.address);
    if (!isTaken) this.#forget(holding);
    return isTaken;
  }

  /** Without an answer it is made again before anything else. */
  async #move(from: Holding, to: Holding): Promise<void> {
    this.#moving.set(from.address, [from, to]);
    const isMoved = await this.#options.ledger.move(from, to);
    this.#moving.delete(from.address);
    if (isMoved) this.#note(to);
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
      const holding = { endpoint, address, lease };
      this.#leaving.set(address, holding);
      const isTaken = await ledger.take(holding);
      this.#leaving.delete(address);
      if (isTaken) return holding;
    }
    throw clusterErrors.noAddresses(`all ${pool.length} of the provider are taken`);
  }

  #find({ owner }: Pick<LeaseKey, "owner">, endpoint: string): Holding | undefined {
    return this.#holdings.get(keyOf(owner, endpoint));
  }

  #note(holding: Holding): void {
    this.#holdings.set(keyOf(holding.lease.owner, holding.endpoint), holding);
  }

  /** The name may have another address by now. */
  #forget({ lease, endpoint, address }: Holding): void {
    if (this.#find(lease, endpoint)?.address === address) this.#holdings.delete(keyOf(lease.owner, endpoint));
  }
}

/** No name of an address has a slash. */
function keyOf(owner: string, endpoint: string): string {
  return `${owner}/${endpoint}`;
}

function isSame(one: LeaseKey, other: LeaseKey): boolean {
  return formatLeaseId(one) === formatLeaseId(other);
}
