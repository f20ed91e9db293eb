import { create } from "@bufbuild/protobuf";
import { coin } from "../../../src/testing/index.ts";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { fullGroup, plainGroup } from "../content.ts";
import { LIMITS } from "../limits.ts";
import {
  type Cases,
  deploy,
  deployment,
  groupId,
  groupsNamed,
  leased,
  newWorld,
  one,
  TENANT,
  withBids,
} from "./prepare.ts";

/** What owners of deployments send. */
export const DEPLOYMENTS: Cases = {
  "svc.deployment.v1beta1.MsgCreateDeployment": [
    {
      content: "twenty full groups",
      count: 1,
      prepare: (count) => {
        const world = newWorld();
        const tenant = world.key(TENANT);
        const groups = groupsNamed(LIMITS.groups, (name) => fullGroup(name));
        return {
          world,
          txs: Array.from({ length: count }, (_, i) => one(tenant, deployment(tenant, BigInt(i + 1), groups))),
        };
      },
    },
    {
      content: "twenty small groups",
      count: 2,
      prepare: (count) => {
        const world = newWorld();
        const tenant = world.key(TENANT);
        const groups = groupsNamed(LIMITS.groups, (name) => plainGroup(name));
        return {
          world,
          txs: Array.from({ length: count }, (_, i) => one(tenant, deployment(tenant, BigInt(i + 1), groups))),
        };
      },
    },
    {
      content: "one small group",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        const tenant = world.key(TENANT);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, deployment(tenant, BigInt(i + 1), [plainGroup("g")])),
          ),
        };
      },
    },
  ],
  "svc.deployment.v1beta1.MsgDepositDeployment": [
    {
      content: "beside 20 leases and 99 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, tenant } = leased(count, 99);
        const from = world.key("sponsor99");
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            from,
            create(MsgDepositDeploymentSchema, {
              id: groupId(tenant, i, 0),
              depositor: from.address,
              amount: coin(1_000_000n),
            }),
          ),
        );
        return { world, txs };
      },
    },
  ],
  "svc.deployment.v1beta1.MsgUpdateDeployment": [
    {
      content: "beside 20 leases and 100 sponsors",
      count: 2,
      prepare: (count) => {
        const { world, tenant } = leased(count, 100);
        const version = new Uint8Array(32).fill(2);
        const txs = Array.from({ length: count }, (_, i) =>
          one(tenant, create(MsgUpdateDeploymentSchema, { id: groupId(tenant, i, 0), version })),
        );
        return { world, txs };
      },
    },
  ],
  "svc.deployment.v1beta1.MsgCloseDeployment": [
    {
      content: "20 leases and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, tenant } = leased(count, 100);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgCloseDeploymentSchema, { id: groupId(tenant, i, 0) })),
          ),
        };
      },
    },
    {
      content: "20 groups with 20 bids each",
      count: 1,
      prepare: (count) => {
        const { world, tenant } = withBids(count, LIMITS.groups);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgCloseDeploymentSchema, { id: groupId(tenant, i, 0) })),
          ),
        };
      },
    },
  ],
  "svc.deployment.v1beta1.MsgCloseGroup": [
    {
      content: "20 bids",
      count: 2,
      prepare: (count) => {
        const { world, tenant } = withBids(count, 2);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgCloseGroupSchema, { id: groupId(tenant, i, 1) })),
          ),
        };
      },
    },
    {
      content: "a lease beside 19 others and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, tenant } = leased(count, 100);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgCloseGroupSchema, { id: groupId(tenant, i, 1) })),
          ),
        };
      },
    },
  ],
  "svc.deployment.v1beta1.MsgPauseGroup": [
    {
      content: "20 bids",
      count: 2,
      prepare: (count) => {
        const { world, tenant } = withBids(count, 2);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
          ),
        };
      },
    },
    {
      content: "a lease beside 19 others and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, tenant } = leased(count, 100);
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
          ),
        };
      },
    },
  ],
  "svc.deployment.v1beta1.MsgStartGroup": [
    {
      content: "a full group beside 19 leases and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, tenant } = leased(count, 100);
        world.mustSend(
          tenant,
          Array.from({ length: count }, (_, i) => create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
        );
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgStartGroupSchema, { id: groupId(tenant, i, 1) })),
          ),
        };
      },
    },
    {
      content: "a full group",
      count: 10,
      prepare: (count) => {
        const world = newWorld();
        const tenant = world.key(TENANT);
        deploy(world, count, () => [fullGroup("group")]);
        world.mustSend(
          tenant,
          Array.from({ length: count }, (_, i) => create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
        );
        return {
          world,
          txs: Array.from({ length: count }, (_, i) =>
            one(tenant, create(MsgStartGroupSchema, { id: groupId(tenant, i, 1) })),
          ),
        };
      },
    },
  ],
};
