import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { ChainView } from "../chain.ts";
import type { ClusterLimits } from "../cluster/index.ts";
import { daemonErrors } from "../errors.ts";
import type { OrderChain } from "../orders/index.ts";

export interface OrderChainOptions {
  readonly chain: ChainView;
  readonly provider: string;
  /** Attributes that an order must ask for (`--provider-config`). */
  readonly tenantAttributes: readonly Attribute[];
  readonly balance: (denom: string) => Promise<bigint>;
  /** What the cluster can run. */
  readonly cluster: () => ClusterLimits & { readonly gpus: boolean };
}

/** The chain as the orders see it: with our own offer, as the chain knows it at this moment. */
export function orderChain({ chain, provider, tenantAttributes, balance, cluster }: OrderChainOptions): OrderChain {
  return {
    openOrders: () => chain.openOrders(),
    order: (id) => chain.order(id),
    bid: (id) => chain.bid(id),
    openBidPrices: (id) => chain.openBidPrices(id),
    marketParams: () => chain.marketParams(),
    balance,
    async offer(auditors) {
      const record = await chain.provider(provider);
      if (record === undefined) throw daemonErrors.notRegistered(provider);
      const audited = auditors.length === 0 ? [] : await chain.auditedAttributes(provider);
      return {
        attributes: record.attributes,
        signedBy: (auditor) => audited.find((each) => each.auditor === auditor)?.attributes ?? [],
        tenantAttributes,
        ...cluster(),
      };
    },
  };
}
