import {
  addressKey,
  collection,
  index,
  protoValue,
  tupleKey,
  uint8Key,
  uint32Key,
  uint64Key,
  type ValueCodec,
} from "../../store/index.ts";
import type { DecimalCoin } from "../../util/index.ts";
import type { DecCoin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  type Bid,
  BidSchema,
  type Lease,
  LeaseSchema,
  type Order,
  OrderSchema,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import {
  type AccountKey,
  type BidKey,
  decodeAddress,
  encodeAddress,
  formatBidId,
  type GroupKey,
  type OrderKey,
} from "../../wire/index.ts";

/** Store keys: owner, dseq, gseq, oseq, and for bids and leases the provider. */
export type OrderPath = readonly [Uint8Array, bigint, number, number];
export type BidPath = readonly [Uint8Array, bigint, number, number, Uint8Array];

export const orderPath = tupleKey(addressKey, uint64Key, uint32Key, uint32Key);
const bidPath = tupleKey(addressKey, uint64Key, uint32Key, uint32Key, addressKey);
const stateIndexKey = tupleKey(uint8Key);
const dseqIndexKey = tupleKey(uint64Key);
const ownerIndexKey = tupleKey(addressKey, uint8Key, uint64Key, uint32Key, uint32Key);
const providerIndexKey = tupleKey(addressKey, uint8Key);

export function orderTable() {
  return collection({
    name: "order",
    prefix: 0x10,
    key: orderPath,
    value: protoValue(OrderSchema),
    indexes: {
      state: index({ prefix: 0x11, key: stateIndexKey, of: ({ state }: Order) => [state] as const }),
      dseq: index({ prefix: 0x12, key: dseqIndexKey, of: (_: Order, [, dseq]: OrderPath) => [dseq] as const }),
      owner: index({
        prefix: 0x13,
        key: ownerIndexKey,
        of: ({ state }: Order, [owner, dseq, gseq, oseq]: OrderPath) => [owner, state, dseq, gseq, oseq] as const,
      }),
    },
  });
}

/** Bids or leases; `prefix` is the first of five free ones. */
function bidTable<V extends { readonly state: number }>(name: string, prefix: number, value: ValueCodec<V>) {
  return collection({
    name,
    prefix,
    key: bidPath,
    value,
    indexes: {
      state: index({ prefix: prefix + 1, key: stateIndexKey, of: ({ state }: V) => [state] as const }),
      dseq: index({ prefix: prefix + 2, key: dseqIndexKey, of: (_: V, [, dseq]: BidPath) => [dseq] as const }),
      owner: index({
        prefix: prefix + 3,
        key: ownerIndexKey,
        of: ({ state }: V, [owner, dseq, gseq, oseq]: BidPath) => [owner, state, dseq, gseq, oseq] as const,
      }),
      provider: index({
        prefix: prefix + 4,
        key: providerIndexKey,
        of: ({ state }: V, [, , , , provider]: BidPath) => [provider, state] as const,
      }),
    },
  });
}

export type OrderTable = ReturnType<typeof orderTable>;
export type BidTable<V extends { readonly state: number }> = ReturnType<typeof bidTable<V>>;

export const bidRecords = (): BidTable<Bid> => bidTable("bid", 0x20, protoValue(BidSchema));
export const leaseRecords = (): BidTable<Lease> => bidTable("lease", 0x30, protoValue(LeaseSchema));

export function pathOf(id: OrderKey): [Uint8Array, bigint, number, number] {
  return [decodeAddress(id.owner), id.dseq, id.gseq, id.oseq];
}

export function orderOfPath([owner, dseq, gseq, oseq]: OrderPath): OrderKey {
  return { owner: encodeAddress(owner), dseq, gseq, oseq };
}

export function groupPathOf(id: GroupKey): [Uint8Array, bigint, number] {
  return [decodeAddress(id.owner), id.dseq, id.gseq];
}

export function bidPathOf(id: BidKey): [Uint8Array, bigint, number, number, Uint8Array] {
  return [...pathOf(id), decodeAddress(id.provider)];
}

const NO_ID: BidKey = { owner: "", dseq: 0n, gseq: 0, oseq: 0, provider: "" };

/** The id of a stored record: it always has one. */
export function orderIdOf({ orderId }: Order): OrderKey {
  const { owner, dseq, gseq, oseq } = orderId ?? NO_ID;
  return { owner, dseq, gseq, oseq };
}

export function bidIdOf({ bidId }: Bid): BidKey {
  return plainId(bidId ?? NO_ID);
}

export function leaseIdOf({ leaseId }: Lease): BidKey {
  return plainId(leaseId ?? NO_ID);
}

function plainId({ owner, dseq, gseq, oseq, provider }: BidKey): BidKey {
  return { owner, dseq, gseq, oseq, provider };
}

/** The escrow account of a bid's deposit. */
export function bidEscrowId(id: BidKey): AccountKey {
  return { scope: "bid", xid: formatBidId(id) };
}

/** A stored price: digits of value x 10^18. */
export function priceOf(coin: DecCoin | undefined): DecimalCoin {
  return { denom: coin?.denom ?? "", amount: BigInt(coin?.amount ?? "0") };
}
