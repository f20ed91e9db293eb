import type { LeaseKey } from "../../../../wire/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { type AddressLedger, type Holding, isSameHolding, normalAddress } from "../../shared/index.ts";
import { ApiFailure } from "../api/failure.ts";
import { letGo } from "../api/held.ts";
import type { ApiObject } from "../api/objects.ts";
import type { DriverContext } from "../context.ts";
import { addressName, KIND, LABEL, LEASES_SPACE, leasedIpObject } from "../objects/index.ts";
import type { ApiService } from "../view/balanced.ts";

/** The record of an address, as far as it is read. */
interface ApiLeasedIp extends ApiObject {
  readonly spec?: {
    readonly address?: string;
    readonly endpoint?: string;
    readonly owner?: string;
    readonly dseq?: string;
    readonly gseq?: number;
    readonly oseq?: number;
    readonly provider?: string;
    /** All leases that hold it, of one deployment; the first one's numbers are repeated outside the list. */
    readonly groups?: readonly { readonly gseq?: number; readonly oseq?: number }[];
    readonly since?: string;
  };
}

type Parts = Pick<DriverContext, "api" | "objects" | "provider">;

/**
 * Holdings are objects of the cluster named by their addresses: the server gives each name once, and remembers it after
 * any crash.
 */
export class ObjectLedger implements AddressLedger {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Addresses held by leases of this provider, the latest last. Unreadable records stay. */
  async load(): Promise<Holding[]> {
    const { api, provider } = this.#parts;
    const labels = `${LABEL.provider}=${provider}`;
    const { objects } = await api.list<ApiLeasedIp>(KIND.leasedIp, { namespace: LEASES_SPACE, labels });
    const sorted = [...objects].sort((a, b) => (a.spec?.since ?? "").localeCompare(b.spec?.since ?? "", "en"));
    return sorted.flatMap((object) => holdingOf(object) ?? []);
  }

  async take(holding: Holding): Promise<boolean> {
    const { api, objects } = this.#parts;
    const { object } = leasedIpObject(holding, now(), objects);
    const { finalizers: _, ...metadata } = object.metadata;
    try {
      await api.create(KIND.leasedIp, { ...object, metadata });
    } catch (error) {
      if (!(error instanceof ApiFailure && error.kind === "conflict")) throw error;
      // An answer that got lost may have been to this very wish.
      if (!isOf(await this.#find(holding), holding)) return false;
    }
    await api.apply(KIND.leasedIp, object);
    return true;
  }

  async change(from: Holding, to: Holding): Promise<boolean> {
    const { api, objects } = this.#parts;
    const found = await this.#find(from);
    if (found === undefined) return this.take(to);
    if (isOf(found, to)) return true;
    if (!isOf(found, from)) return false;
    const isOfOne = from.leases[0].dseq === to.leases[0].dseq;
    const { object } = leasedIpObject(to, (isOfOne ? found.spec?.since : undefined) ?? now(), objects);
    const { uid } = found.metadata;
    await api.apply(KIND.leasedIp, {
      ...object,
      metadata: { ...object.metadata, ...(uid === undefined ? {} : { uid }) },
    });
    return true;
  }

  async free(holding: Holding): Promise<void> {
    const found = await this.#find(holding);
    if (!isOf(found, holding)) return;
    await removeLeading(this.#parts, holding.address);
    if ((await removeLeading(this.#parts, holding.address)) > 0)
      throw clusterErrors.refused(`the route from ${holding.address} to the lease is still being removed`);
    const { spec, metadata: { uid, name } = { name: "" } } = found ?? {};
    if (uid === undefined) return;
    const rest = { spec };
    await letGo(this.#parts.api, KIND.leasedIp, { namespace: LEASES_SPACE, name, uid, rest });
  }

  async #find({ address }: Holding): Promise<ApiLeasedIp | undefined> {
    const { api, provider } = this.#parts;
    const place = { namespace: LEASES_SPACE, name: addressName(address) };
    const found = await api.find<ApiLeasedIp>(KIND.leasedIp, place);
    return found?.metadata.labels?.[LABEL.provider] === provider ? found : undefined;
  }
}

/** Objects that lead from an address to leases. */
export async function leading({ api, provider }: Parts, address: string): Promise<readonly ApiService[]> {
  const labels = `${LABEL.provider}=${provider},${LABEL.address}=${addressName(address)}`;
  const { objects } = await api.list<ApiService>(KIND.service, { labels });
  return objects;
}

/** Removes what leads from an address to leases; resolves with how much of it there was. It is gone when there is none. */
async function removeLeading(parts: Parts, address: string): Promise<number> {
  const found = await leading(parts, address);
  await removeServices(parts, found);
  return found.length;
}

/** Has them removed; they are gone when they are no longer listed. */
export async function removeServices({ api }: Pick<Parts, "api">, services: readonly ApiService[]): Promise<void> {
  for (const { metadata } of services) {
    const { name, namespace = "", uid, deletionTimestamp } = metadata;
    if (uid === undefined || deletionTimestamp !== undefined) continue;
    await api.delete(KIND.service, { namespace, name }, { uid });
  }
}

/** Undefined unless it is a record of this program. */
function holdingOf({ metadata, spec = {} }: ApiLeasedIp): Holding | undefined {
  const { endpoint = "", owner = "", dseq = "", gseq = 0, oseq = 0, provider = "", groups = [] } = spec;
  const address = normalAddress(spec.address ?? "");
  if (address === undefined || addressName(address) !== metadata.name) return undefined;
  if (endpoint === "" || owner === "" || provider === "" || !/^\d{1,20}$/.test(dseq)) return undefined;
  const first: LeaseKey = { owner, dseq: BigInt(dseq), gseq, oseq, provider };
  const more = groups.slice(1).map((group) => ({ ...first, gseq: group.gseq ?? 0, oseq: group.oseq ?? 0 }));
  return { endpoint, address, leases: [first, ...more] };
}

function isOf(object: ApiLeasedIp | undefined, holding: Holding): boolean {
  const found = object === undefined ? undefined : holdingOf(object);
  return found !== undefined && isSameHolding(found, holding);
}

/** RFC 3339 in UTC, in whole seconds. */
function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
