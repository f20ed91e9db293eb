import { create } from "@bufbuild/protobuf";
import {
  MsgDeleteProviderAttributesSchema,
  MsgSignProviderAttributesSchema,
} from "../../../src/wire/gen/svc/audit/v1beta1/audit_pb.js";
import {
  MsgCreateProviderSchema,
  MsgDeleteProviderSchema,
  MsgUpdateProviderSchema,
} from "../../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import type { GasTx } from "../chain.ts";
import { fullGroup, longAttributes, type Pair, plainGroup, shortAttributes } from "../content.ts";
import { LIMITS } from "../limits.ts";
import {
  bidAll,
  type Cases,
  deploy,
  type GasCase,
  groupsNamed,
  leaseAll,
  newChain,
  one,
  PROVIDERS,
  register,
  signAll,
  WITNESSES,
} from "./prepare.ts";

const keysOf = (attributes: readonly Pair[]) => attributes.map(({ key }) => key);

/** Every auditor, who has signed these attributes of a provider before, sends a message about it. */
const audited = (
  content: string,
  before: readonly Pair[],
  message: (pair: { readonly owner: string; readonly auditor: string }) => GasTx["messages"][number],
): GasCase => ({
  content,
  count: 2,
  prepare: (count) => {
    const chain = newChain();
    register(chain);
    const owner = chain.key(PROVIDERS[0] ?? "");
    const by = WITNESSES.slice(0, count);
    if (before.length > 0) signAll(chain, owner, { attributes: before, by });
    const auditors = by.map((name) => chain.key(name));
    const txs = auditors.map((key) => one(key, message({ owner: owner.address, auditor: key.address })));
    return { chain, txs };
  },
});

/** Messages of providers, and of auditors about them. */
export const PROVIDER_CASES: Cases = {
  "svc.provider.v1beta1.MsgCreateProvider": [
    ...[longAttributes(LIMITS.attributes.max), shortAttributes(LIMITS.attributes.max), []].map((attributes) => ({
      content: `${attributes.length} attributes of ${(attributes[0]?.key.length ?? 0) + (attributes[0]?.value.length ?? 0)} bytes`,
      count: 8,
      prepare: (count: number) => {
        const chain = newChain();
        const txs = PROVIDERS.slice(0, count).map((name) => {
          const from = chain.key(name);
          return one(
            from,
            create(MsgCreateProviderSchema, {
              owner: from.address,
              hostUri: "https://p.test",
              attributes: [...attributes],
            }),
          );
        });
        return { chain, txs };
      },
    })),
  ],
  "svc.provider.v1beta1.MsgUpdateProvider": [
    {
      content: "other short attributes, as many as there can be",
      count: 8,
      prepare: (count) => {
        const chain = newChain();
        register(chain, shortAttributes(LIMITS.attributes.max), PROVIDERS.slice(0, count));
        const txs = PROVIDERS.slice(0, count).map((name) => {
          const from = chain.key(name);
          const attributes = shortAttributes(LIMITS.attributes.max).map(({ key }) => ({ key: `${key}x`, value: "" }));
          return one(
            from,
            create(MsgUpdateProviderSchema, { owner: from.address, hostUri: "https://p.test", attributes }),
          );
        });
        return { chain, txs };
      },
    },
    {
      content: "loses an attribute beside 100 leases of full groups",
      count: 1,
      prepare: (count) => {
        const chain = newChain();
        const required = longAttributes(20);
        const offered = [...longAttributes(LIMITS.attributes.max - 1), { key: "zz", value: "" }];
        register(chain, offered, [PROVIDERS[0] ?? ""]);
        const area = { deployments: 100, groups: 1 };
        deploy(chain, 100, () => [fullGroup("group", { required })]);
        leaseAll(chain, area);
        const from = chain.key(PROVIDERS[0] ?? "");
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            from,
            create(MsgUpdateProviderSchema, {
              owner: from.address,
              hostUri: "https://p.test",
              attributes: [...longAttributes(LIMITS.attributes.max - 1), { key: `z${i}`, value: "" }],
            }),
          ),
        );
        return { chain, txs };
      },
    },
  ],
  "svc.provider.v1beta1.MsgDeleteProvider": [
    {
      content: "with 100 open bids",
      count: 1,
      prepare: (count) => {
        const chain = newChain();
        register(chain);
        const area = { deployments: 5, groups: LIMITS.groups, providers: count };
        deploy(chain, 5, () => groupsNamed(LIMITS.groups, (name) => plainGroup(name)));
        bidAll(chain, area);
        const txs = PROVIDERS.slice(0, count).map((name) =>
          one(chain.key(name), create(MsgDeleteProviderSchema, { owner: chain.key(name).address })),
        );
        return { chain, txs };
      },
    },
    {
      content: "with nothing",
      count: 10,
      prepare: (count) => {
        const chain = newChain();
        register(chain, [], PROVIDERS);
        const txs = PROVIDERS.slice(0, count).map((name) =>
          one(chain.key(name), create(MsgDeleteProviderSchema, { owner: chain.key(name).address })),
        );
        return { chain, txs };
      },
    },
  ],
  "svc.audit.v1beta1.MsgSignProviderAttributes": [
    audited("one more beside the most attributes", longAttributes(LIMITS.attributes.max), (pair) =>
      create(MsgSignProviderAttributesSchema, { ...pair, attributes: longAttributes(1, "n") }),
    ),
    audited("the most short attributes", [], (pair) =>
      create(MsgSignProviderAttributesSchema, { ...pair, attributes: shortAttributes(LIMITS.attributes.max) }),
    ),
  ],
  "svc.audit.v1beta1.MsgDeleteProviderAttributes": [
    audited("all of the most short attributes", shortAttributes(LIMITS.attributes.max), (pair) =>
      create(MsgDeleteProviderAttributesSchema, { ...pair, keys: keysOf(shortAttributes(LIMITS.attributes.max)) }),
    ),
    audited("half of the most attributes", longAttributes(LIMITS.attributes.max), (pair) =>
      create(MsgDeleteProviderAttributesSchema, {
        ...pair,
        keys: keysOf(longAttributes(Math.floor(LIMITS.attributes.max / 2))),
      }),
    ),
  ],
};
