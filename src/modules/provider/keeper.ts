import { type Context, paramsItem } from "../../runtime/index.ts";
import { attributeLimits, matchAttributes } from "../../sdl/index.ts";
import { addressKey, checkPrefixes, collection, protoValue } from "../../store/index.ts";
import { type Attribute, Closed_Reason, type PlacementRequirements } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { ParamsSchema, type Provider, ProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeAddress, providerErrors as errors } from "../../wire/index.ts";
import { checkAttributes } from "./check.ts";

export const STORE = "provider";

/** Open bids that one delete may close: its gas is fixed. */
const MAX_BIDS_CLOSED = 100;

/** Functions of the market that providers need. */
export interface LeaseBook {
  /** Requirements of the orders behind the provider's active leases. */
  activeRequirements(ctx: Context, provider: string): Iterable<PlacementRequirements>;
  hasActiveLease(ctx: Context, provider: string): boolean;
  openBids(ctx: Context, provider: string): number;
  closeOpenBids(ctx: Context, provider: string, reason: Closed_Reason): void;
}

/** Registered providers, by owner. */
export class ProviderKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly providers = collection({
    name: "provider",
    prefix: 0x01,
    key: addressKey,
    value: protoValue(ProviderSchema),
    notFound: errors.notFound,
  });
  readonly #market: LeaseBook;

  constructor(market: LeaseBook) {
    this.#market = market;
    checkPrefixes({ params: this.params, providers: this.providers });
  }

  get(ctx: Context, owner: string): Provider | undefined {
    return this.providers.get(ctx.store(STORE), ownerBytes(owner));
  }

  require(ctx: Context, owner: string): Provider {
    const provider = this.get(ctx, owner);
    if (provider === undefined) throw errors.notFound(owner);
    return provider;
  }

  exists(ctx: Context, owner: string): boolean {
    return this.providers.has(ctx.store(STORE), ownerBytes(owner));
  }

  /** The provider's current attributes; empty when it is not registered. */
  attributes(ctx: Context, owner: string): readonly Attribute[] {
    return this.get(ctx, owner)?.attributes ?? [];
  }

  create(ctx: Context, provider: Provider): void {
    if (this.exists(ctx, provider.owner)) throw errors.exists(provider.owner);
    this.#checkAttributes(ctx, provider);
    this.restore(ctx, { ...provider, createdAt: ctx.height, updatedAt: ctx.height });
    emit(ctx, "provider-created", provider.owner);
  }

  /** Replaces the record; the attributes must still fit every active lease of the provider. */
  update(ctx: Context, provider: Provider): void {
    const before = this.require(ctx, provider.owner);
    this.#checkAttributes(ctx, provider);
    if (!matchAttributes(before.attributes, provider.attributes)) this.#checkLeases(ctx, provider);
    this.restore(ctx, { ...provider, createdAt: before.createdAt, updatedAt: ctx.height });
    emit(ctx, "provider-updated", provider.owner);
  }

  /** Removes a provider without active leases; its open bids are closed and their deposits go back. */
  delete(ctx: Context, owner: string): void {
    this.require(ctx, owner);
    if (this.#market.hasActiveLease(ctx, owner)) throw errors.hasLeases(owner);
    if (this.#market.openBids(ctx, owner) > MAX_BIDS_CLOSED) throw errors.tooManyBids(owner);
    this.#market.closeOpenBids(ctx, owner, Closed_Reason.provider_deleted);
    this.providers.delete(ctx.store(STORE), ownerBytes(owner));
    emit(ctx, "provider-deleted", owner);
  }

  /** Sets a record unchanged. */
  restore(ctx: Context, provider: Provider): void {
    this.providers.set(ctx.store(STORE), ownerBytes(provider.owner), provider);
  }

  #checkAttributes(ctx: Context, { attributes }: Provider): void {
    checkAttributes(attributes, attributeLimits(this.params.require(ctx.plainStore(STORE))));
  }

  /** If no attribute is lost this need not be checked: the walk is as long as there are leases. */
  #checkLeases(ctx: Context, { owner, attributes }: Provider): void {
    for (const { attributes: required } of this.#market.activeRequirements(ctx, owner)) {
      if (!matchAttributes(required, attributes)) throw errors.attributesInUse(owner);
    }
  }
}

function ownerBytes(owner: string): Uint8Array {
  return decodeAddress(owner, "account");
}

function emit(ctx: Context, action: string, owner: string): void {
  ctx.events.emit("svc.v1", { module: "provider", action, owner });
}
