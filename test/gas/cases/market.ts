import { create } from "@bufbuild/protobuf";
import { MsgPauseGroupSchema, MsgStartGroupSchema } from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import {
  MsgCloseBidSchema,
  MsgCloseLeaseSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesSchema,
} from "../../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import type { BidKey } from "../../../src/wire/index.ts";
import { fullGroup, longAttributes, plainGroup } from "../content.ts";
import { LIMITS } from "../limits.ts";
import {
  AUDITORS,
  bid,
  bidAll,
  type Cases,
  deploy,
  type GasCase,
  groupId,
  leased,
  newChain,
  one,
  orderIds,
  PROVIDERS,
  register,
  type Sender,
  sending,
  signAll,
  TENANT,
  withBids,
} from "./prepare.ts";

/** Tenant or provider send a message about the first lease of each deployment, which has 19 others and 100 sponsors. */
const besideLeases = (
  content: string,
  signer: "tenant" | "provider",
  message: (id: BidKey) => ReturnType<Sender["message"]>,
): GasCase =>
  sending(content, 1, (total) => {
    const made = leased(total, 100);
    const idOf = (i: number) => ({ ...groupId(made.tenant, i, 1), oseq: 1, provider: made.provider.address });
    return { chain: made.chain, from: made[signer], message: (i) => message(idOf(i)) };
  });

/** Bids, leases and their payments. */
export const MARKET: Cases = {
  "svc.market.v1beta1.MsgCreateBid": [
    {
      content: "the most auditors and attributes",
      count: 1,
      prepare: (count) => audited(count, LIMITS.required),
    },
    {
      content: "a full group",
      count: 10,
      prepare: (count) => {
        const chain = newChain();
        register(chain);
        deploy(chain, count, () => [fullGroup("group")]);
        const provider = chain.key(PROVIDERS[0] ?? "");
        return {
          chain,
          txs: orderIds(chain, { deployments: count, groups: 1 }).map((order) => one(provider, bid(order, provider))),
        };
      },
    },
    {
      content: "cheaper than one of 20 on a full order",
      count: 10,
      prepare: (count) => {
        const { chain } = withBids(count, 1);
        const name = PROVIDERS[LIMITS.bids] ?? "";
        register(chain, [], [name]);
        const provider = chain.key(name);
        const orders = orderIds(chain, { deployments: count, groups: 1 });
        return { chain, txs: orders.map((order) => one(provider, bid(order, provider, "0.4"))) };
      },
    },
    {
      content: "20 on an order that ends in their block, with their ends",
      count: LIMITS.bids + 1,
      prepare: (total) => {
        const chain = newChain();
        register(chain);
        const count = total / (LIMITS.bids + 1);
        deploy(chain, count, () => [plainGroup("group")]);
        const tenant = chain.key(TENANT);
        const txs = orderIds(chain, { deployments: count, groups: 1 }).flatMap((order, i) => [
          ...PROVIDERS.slice(0, LIMITS.bids).map((name) => one(chain.key(name), bid(order, chain.key(name)))),
          one(tenant, create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
        ]);
        return { chain, txs };
      },
    },
    {
      content: "the last of 20 bids on a small group",
      count: 10,
      prepare: (count) => {
        const chain = newChain();
        register(chain);
        deploy(chain, count, () => [plainGroup("group")]);
        bidAll(chain, { deployments: count, groups: 1, providers: LIMITS.bids - 1 });
        const provider = chain.key(PROVIDERS[LIMITS.bids - 1] ?? "");
        return {
          chain,
          txs: orderIds(chain, { deployments: count, groups: 1 }).map((order) => one(provider, bid(order, provider))),
        };
      },
    },
  ],
  "svc.market.v1beta1.MsgCloseBid": [
    {
      content: "an open one",
      count: 20,
      prepare: (count) => {
        const chain = newChain();
        register(chain);
        deploy(chain, count, () => [plainGroup("group")]);
        bidAll(chain, { deployments: count, groups: 1, providers: 1 });
        const provider = chain.key(PROVIDERS[0] ?? "");
        const txs = orderIds(chain, { deployments: count, groups: 1 }).map((order) =>
          one(provider, create(MsgCloseBidSchema, { bidId: { ...order, provider: provider.address } })),
        );
        return { chain, txs };
      },
    },
    besideLeases("a lease beside 19 others and 100 sponsors", "provider", (bidId) =>
      create(MsgCloseBidSchema, { bidId }),
    ),
  ],
  "svc.market.v1beta1.MsgCreateLease": [
    {
      content: "one of 20 bids",
      count: 2,
      prepare: (count) => {
        const { chain, tenant } = withBids(count, 1);
        const provider = chain.key(PROVIDERS[0] ?? "").address;
        const txs = Array.from({ length: count }, (_, i) =>
          one(tenant, create(MsgCreateLeaseSchema, { bidId: { ...groupId(tenant, i, 1), oseq: 1, provider } })),
        );
        return { chain, txs };
      },
    },
    {
      content: "of a full group with the most auditors and attributes",
      count: 1,
      prepare: (count) => {
        const { chain, txs } = audited(count, LIMITS.required);
        chain.mustRun(...txs);
        const tenant = chain.key(TENANT);
        const provider = chain.key(PROVIDERS[0] ?? "").address;
        return {
          chain,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgCreateLeaseSchema, { bidId: { ...groupId(tenant, i, 1), oseq: 1, provider } })),
          ),
        };
      },
    },
    {
      content: "beside 19 leases and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { chain, tenant } = leased(count, 100);
        const provider = chain.key(PROVIDERS[1] ?? "");
        chain.mustSend(
          tenant,
          Array.from({ length: count }, (_, i) => create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
        );
        chain.mustSend(
          tenant,
          Array.from({ length: count }, (_, i) => create(MsgStartGroupSchema, { id: groupId(tenant, i, 1) })),
        );
        const ids = Array.from({ length: count }, (_, i) => ({ ...groupId(tenant, i, 1), oseq: 2 }));
        chain.mustSend(
          provider,
          ids.map((order) => bid(order, provider)),
        );
        return {
          chain,
          txs: ids.map((id) =>
            one(tenant, create(MsgCreateLeaseSchema, { bidId: { ...id, provider: provider.address } })),
          ),
        };
      },
    },
  ],
  "svc.market.v1beta1.MsgCloseLease": [
    besideLeases("beside 19 others and 100 sponsors, with a new order", "tenant", (leaseId) =>
      create(MsgCloseLeaseSchema, { leaseId, reopen: true }),
    ),
  ],
  "svc.market.v1beta1.MsgWithdrawLease": [
    besideLeases("beside 19 others and 100 sponsors", "provider", (bidId) => create(MsgWithdrawLeaseSchema, { bidId })),
  ],
  "svc.market.v1beta1.MsgWithdrawLeases": [
    {
      content: "200 leases in ten deployments",
      count: 1,
      prepare: (count) => {
        const { chain, provider } = leased(10, 0);
        return {
          chain,
          txs: Array.from({ length: count }, () =>
            one(provider, create(MsgWithdrawLeasesSchema, { provider: provider.address })),
          ),
        };
      },
    },
  ],
};

/** Orders that ask for everything that can be asked for, and a provider that has it. */
function audited(count: number, required: number) {
  const chain = newChain();
  const offered = longAttributes(LIMITS.attributes.max);
  register(chain, offered, [PROVIDERS[0] ?? ""]);
  const provider = chain.key(PROVIDERS[0] ?? "");
  signAll(chain, provider, { attributes: offered });
  const auditors = AUDITORS.map((name) => chain.key(name).address);
  const asked = offered.slice(-Math.min(required, 30));
  deploy(chain, count, () => [fullGroup("group", { auditors, required: asked })]);
  return {
    chain,
    txs: orderIds(chain, { deployments: count, groups: 1 }).map((order) => one(provider, bid(order, provider))),
  };
}
