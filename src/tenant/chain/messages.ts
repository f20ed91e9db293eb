import type { BidRecord } from "../../client/index.ts";
import type { IntCoin } from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { MsgCreateLeaseSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { type Any, type DeploymentKey, type GroupKey, packAny } from "../../wire/index.ts";

export interface NewOrder {
  readonly id: DeploymentKey;
  readonly groups: readonly GroupSpec[];
  /** Hash of the manifest. */
  readonly version: Uint8Array;
  readonly deposit: IntCoin;
}

export function createDeployment({ id, groups, version, deposit }: NewOrder): Any {
  return packAny(MsgCreateDeploymentSchema, {
    id,
    groups: [...groups],
    version: new Uint8Array(version),
    deposit: { denom: deposit.denom, amount: deposit.amount.toString() },
  });
}

export function updateDeployment(id: DeploymentKey, version: Uint8Array): Any {
  return packAny(MsgUpdateDeploymentSchema, { id, version: new Uint8Array(version) });
}

export function depositDeployment(id: DeploymentKey, { denom, amount }: IntCoin): Any {
  return packAny(MsgDepositDeploymentSchema, { id, amount: { denom, amount: amount.toString() } });
}

export function closeDeployment(id: DeploymentKey): Any {
  return packAny(MsgCloseDeploymentSchema, { id });
}

export function startGroup(id: GroupKey): Any {
  return packAny(MsgStartGroupSchema, { id });
}

/** Accepts a bid at its price, or at a lower one. */
export function createLease({ id: bidId, price }: Pick<BidRecord, "id" | "price">): Any {
  const maxPrice = { denom: price.denom, amount: price.amount.toString() };
  return packAny(MsgCreateLeaseSchema, { bidId, maxPrice });
}
