import { create } from "@bufbuild/protobuf";
import type { TestKey } from "../../../src/testing/index.ts";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { coin, type GroupInit } from "../../support/chain/index.ts";
import { fullGroup, plainGroup } from "../content.ts";
import { LIMITS } from "../limits.ts";
import {
  type Cases,
  deploy,
  deployment,
  type GasCase,
  groupId,
  groupsNamed,
  leased,
  newChain,
  type Sender,
  sending,
  TENANT,
  withBids,
} from "./prepare.ts";

const created = (content: string, count: number, groups: readonly GroupInit[]): GasCase =>
  sending(content, count, () => {
    const chain = newChain();
    const from = chain.key(TENANT);
    return { chain, from, message: (i) => deployment(from, BigInt(i + 1), groups) };
  });

type Message = (tenant: TestKey, i: number) => ReturnType<Sender["message"]>;

/** The tenant sends a message about each deployment, which has 20 leases and 100 sponsors. */
const besideLeases = (content: string, count: number, message: Message): GasCase =>
  sending(content, count, (total) => {
    const { chain, tenant } = leased(total, 100);
    return { chain, from: tenant, message: (i) => message(tenant, i) };
  });

/** The tenant sends a message about each deployment, whose groups have 20 bids each. */
const besideBids = (content: string, [count, groups]: readonly [number, number], message: Message): GasCase =>
  sending(content, count, (total) => {
    const { chain, tenant } = withBids(total, groups);
    return { chain, from: tenant, message: (i) => message(tenant, i) };
  });

const close: Message = (tenant, i) => create(MsgCloseDeploymentSchema, { id: groupId(tenant, i, 0) });
const update: Message = (tenant, i) =>
  create(MsgUpdateDeploymentSchema, { id: groupId(tenant, i, 0), version: new Uint8Array(32).fill(2) });
const closeGroup: Message = (tenant, i) => create(MsgCloseGroupSchema, { id: groupId(tenant, i, 1) });
const pause: Message = (tenant, i) => create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) });
const start: Message = (tenant, i) => create(MsgStartGroupSchema, { id: groupId(tenant, i, 1) });

/** All groups are paused, then each is started. */
function started(total: number, { chain, tenant }: Pick<ReturnType<typeof leased>, "chain" | "tenant">): Sender {
  chain.mustSend(
    tenant,
    Array.from({ length: total }, (_, i) => pause(tenant, i)),
  );
  return { chain, from: tenant, message: (i) => start(tenant, i) };
}

const ONE_LEASE = "a lease beside 19 others and 100 sponsors";

/** Messages of owners of deployments. */
export const DEPLOYMENTS: Cases = {
  "svc.deployment.v1beta1.MsgCreateDeployment": [
    created(
      "twenty full groups",
      1,
      groupsNamed(LIMITS.groups, (name) => fullGroup(name)),
    ),
    created(
      "twenty small groups",
      2,
      groupsNamed(LIMITS.groups, (name) => plainGroup(name)),
    ),
    created("one small group", 20, [plainGroup("g")]),
  ],
  "svc.deployment.v1beta1.MsgDepositDeployment": [
    sending("beside 20 leases and 99 sponsors", 1, (total) => {
      const { chain, tenant } = leased(total, 99);
      const from = chain.key("sponsor99");
      const deposit = { depositor: from.address, amount: coin(1_000_000n) };
      const message = (i: number) => create(MsgDepositDeploymentSchema, { id: groupId(tenant, i, 0), ...deposit });
      return { chain, from, message };
    }),
  ],
  "svc.deployment.v1beta1.MsgUpdateDeployment": [
    besideLeases("beside 20 leases and 100 sponsors", 2, update),
    sending("of one small group", 20, (total) => {
      const chain = newChain();
      deploy(chain, total, () => [plainGroup("g")]);
      const from = chain.key(TENANT);
      return { chain, from, message: (i) => update(from, i) };
    }),
  ],
  "svc.deployment.v1beta1.MsgCloseDeployment": [
    besideLeases("20 leases and 100 sponsors", 1, close),
    besideBids("20 groups with 20 bids each", [1, LIMITS.groups], close),
  ],
  "svc.deployment.v1beta1.MsgCloseGroup": [
    besideBids("20 bids", [2, 2], closeGroup),
    besideLeases(ONE_LEASE, 1, closeGroup),
  ],
  "svc.deployment.v1beta1.MsgPauseGroup": [besideBids("20 bids", [2, 2], pause), besideLeases(ONE_LEASE, 1, pause)],
  "svc.deployment.v1beta1.MsgStartGroup": [
    sending("a full group beside 19 leases and 100 sponsors", 1, (total) => started(total, leased(total, 100))),
    sending("a full group", 10, (total) => {
      const chain = newChain();
      deploy(chain, total, () => [fullGroup("group")]);
      return started(total, { chain, tenant: chain.key(TENANT) });
    }),
  ],
};
