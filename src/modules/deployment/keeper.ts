import { create } from "@bufbuild/protobuf";
import { type Context, coinMessage, paramsItem, runBlockItem } from "../../runtime/index.ts";
import { groupPrice } from "../../sdl/index.ts";
import {
  addressKey,
  checkPrefixes,
  collection,
  index,
  type KVStore,
  protoValue,
  tupleKey,
  uint8Key,
  uint32Key,
  uint64Key,
} from "../../store/index.ts";
import { equalBytes, formatCoin, type IntCoin, tryParseInt } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  type Deployment,
  Deployment_State,
  DeploymentSchema,
  type Group,
  Group_State,
  GroupSchema,
  type GroupSpec,
  GroupSpecSchema,
  type Params,
  ParamsSchema,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { type MsgDepositDeployment, MsgDepositDeploymentSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import {
  type AccountKey,
  type DeploymentKey,
  decodeAddress,
  deploymentErrors as errors,
  formatDeploymentId,
  formatGroupId,
  type GroupKey,
} from "../../wire/index.ts";
import type { Escrow } from "../escrow/index.ts";
import { emitDeployment, emitGroup } from "./events.ts";
import { checkGroups } from "./group-spec.ts";
import { above, idOfPath, MAX_FAR_NUMBERS, PrunedNumbers } from "./pruning.ts";

export const STORE = "deployment";

/** Functions of the market that deployments need. */
export interface GroupMarket {
  /** Opens the next order of a group and returns its sequence number. */
  openOrder(ctx: Context, group: GroupKey): number;
  /** Ends what the group has on the market: its order with bids, or lease and payment. Returns how many were ended. */
  closeGroup(ctx: Context, group: GroupKey, reason: Closed_Reason): number;
  /** Removes what a closed deployment had on the market from the state, at most about so many records. */
  prune(ctx: Context, id: DeploymentKey, most: number): PrunedOrders;
}

/** Result of pruning the market: removed records, and whether any are left. */
export interface PrunedOrders {
  readonly removed: number;
  readonly isDone: boolean;
}

/** Functions of the grants that deployments need. */
export interface DepositGrants {
  /** Uses what the depositor has granted to the owner for this deposit. Throws if the grant does not allow it. */
  use(ctx: Context, grantee: string, deposit: MsgDepositDeployment): void;
}

export interface NewDeployment {
  readonly id: DeploymentKey;
  readonly groups: readonly GroupSpec[];
  readonly version: Uint8Array;
  readonly deposit: IntCoin;
  /** The account that pays. An account other than the owner needs to grant it. */
  readonly depositor: string;
}

/** A deployment whose pruning failed is retried after this many blocks; others do not wait for it. */
const RETRY_BLOCKS = 100n;

/** Charged for the end of a group beside reads and writes: it looks for orders, bids and leases in many places. */
const GROUP_END_GAS = 25_000n;

/** A stored group's states in which it can be started again. */
const STARTABLE: readonly Group_State[] = [Group_State.paused, Group_State.insufficient_funds];

/**
 * Deployments and their groups. A group's spec never changes and may be long: it is stored once, beside the group, and
 * orders refer to it.
 */
export class DeploymentKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly deployments = collection({
    name: "deployment",
    prefix: 0x01,
    key: tupleKey(addressKey, uint64Key),
    value: protoValue(DeploymentSchema),
    indexes: {
      owner: index({
        prefix: 0x02,
        key: tupleKey(addressKey, uint8Key),
        of: ({ state }: Deployment, [owner]: readonly [Uint8Array, bigint]) => [owner, state] as const,
      }),
      state: index({
        prefix: 0x03,
        key: tupleKey(uint8Key),
        of: ({ state }: Deployment) => [state] as const,
      }),
      dseq: index({
        prefix: 0x04,
        key: tupleKey(uint64Key),
        of: (_: Deployment, [, dseq]: readonly [Uint8Array, bigint]) => [dseq] as const,
      }),
    },
  });
  readonly groups = collection({
    name: "group",
    prefix: 0x05,
    key: tupleKey(addressKey, uint64Key, uint32Key),
    value: protoValue(GroupSchema),
  });
  readonly specs = collection({
    name: "group spec",
    prefix: 0x06,
    key: tupleKey(addressKey, uint64Key, uint32Key),
    value: protoValue(GroupSpecSchema),
  });
  readonly pruned = new PrunedNumbers();
  readonly #escrow: Escrow;
  readonly #market: GroupMarket;
  readonly #grants: DepositGrants;

  constructor(escrow: Escrow, market: GroupMarket, grants: DepositGrants) {
    this.#escrow = escrow;
    this.#market = market;
    this.#grants = grants;
    const { params, deployments, groups, specs, pruned } = this;
    checkPrefixes({ params, deployments, groups, specs, ...numbersOf(pruned) });
  }

  getParams(ctx: Context): Params {
    return this.params.require(ctx.plainStore(STORE));
  }

  deployment(ctx: Context, id: DeploymentKey): Deployment {
    const found = this.deployments.get(store(ctx), deploymentKey(id));
    if (found === undefined) throw this.#notFound(ctx, id);
    return found;
  }

  /** A group without its spec. */
  findGroup(ctx: Context, id: GroupKey): Group | undefined {
    return this.groups.get(store(ctx), groupKey(id));
  }

  /** A group without its spec. */
  group(ctx: Context, id: GroupKey): Group {
    const found = this.findGroup(ctx, id);
    if (found === undefined) throw errors.groupNotFound(formatGroupId(id));
    return found;
  }

  /** Groups of a deployment, without their specs. */
  groupsOf(ctx: Context, id: DeploymentKey): Group[] {
    return [...this.groups.values(store(ctx), { prefix: deploymentKey(id) })];
  }

  /** The spec of a group. */
  spec(ctx: Context, id: GroupKey): GroupSpec {
    const found = this.specs.get(store(ctx), groupKey(id));
    if (found === undefined) throw errors.groupNotFound(formatGroupId(id));
    return found;
  }

  /** The group as the wire has it, with its spec. */
  withSpec(ctx: Context, group: Group): Group {
    return { ...group, groupSpec: this.spec(ctx, idOf(group)) };
  }

  /** Writes a new group. */
  addGroup(ctx: Context, { groupSpec, ...group }: Omit<Group, "$typeName" | "$unknown">): void {
    const key = groupKey(group.groupId ?? NO_ID);
    this.groups.set(store(ctx), key, create(GroupSchema, group));
    this.specs.set(store(ctx), key, groupSpec ?? create(GroupSpecSchema));
  }

  create(ctx: Context, { id, groups, version, deposit, depositor }: NewDeployment): void {
    const key = deploymentKey(id);
    if (this.deployments.has(store(ctx), key)) throw errors.exists(formatDeploymentId(id));
    this.#checkNumber(ctx, id);
    this.#checkDeposit(ctx, deposit);
    checkGroups(groups, this.#limits(ctx), deposit.denom);
    const record = { deploymentId: id, state: Deployment_State.active, version, createdAt: ctx.height };
    this.deployments.set(store(ctx), key, create(DeploymentSchema, record));
    const fromGrant = depositor !== id.owner;
    if (fromGrant) {
      const use = create(MsgDepositDeploymentSchema, { id, amount: coinMessage(deposit), depositor });
      this.#grants.use(ctx, id.owner, use);
    }
    this.#escrow.openAccount(ctx, { id: escrowId(id), owner: id.owner, depositor, deposit, fromGrant });
    emitDeployment(ctx, "deployment-created", id, { version });
    groups.forEach((groupSpec, i) => {
      const groupId = { ...id, gseq: i + 1 };
      this.addGroup(ctx, create(GroupSchema, { groupId, state: Group_State.open, groupSpec, createdAt: ctx.height }));
      this.#market.openOrder(ctx, groupId);
    });
  }

  /** Adds money of any account to an active deployment. */
  deposit(ctx: Context, id: DeploymentKey, from: { readonly depositor: string; readonly amount: IntCoin }): void {
    this.#active(ctx, id);
    const { denom } = this.#escrow.account(ctx, escrowId(id));
    if (from.amount.denom !== denom)
      throw errors.invalidDeposit(`${formatCoin(from.amount)}: the deployment is paid in ${denom}`);
    if (from.depositor !== id.owner) this.#checkSponsor(ctx, from.amount);
    const balance = this.#escrow.deposit(ctx, escrowId(id), from);
    emitDeployment(ctx, "deployment-deposited", id, {
      more: { depositor: from.depositor, amount: formatCoin(from.amount), balance: formatCoin(balance) },
    });
  }

  update(ctx: Context, id: DeploymentKey, version: Uint8Array): void {
    const deployment = this.#active(ctx, id);
    if (equalBytes(deployment.version, version))
      throw errors.invalidVersion("the deployment already has this version: the manifest has not changed");
    this.#save(ctx, { ...deployment, version });
    emitDeployment(ctx, "deployment-updated", id, { version });
  }

  /** Ends everything of a deployment, pays the amounts due and returns the rest to the depositors. */
  close(ctx: Context, id: DeploymentKey, reason: Closed_Reason): void {
    const deployment = this.#active(ctx, id);
    // All at once: the end of a single one settles all others.
    this.#escrow.closePayments(ctx, escrowId(id));
    for (const group of this.groupsOf(ctx, id)) {
      if (group.state === Group_State.closed) continue;
      ctx.gas.consume(GROUP_END_GAS, "end of a group");
      this.#endGroup(ctx, group, { state: Group_State.closed, reason });
    }
    const { balance: returned, transferred: paid, denom } = this.#escrow.closeAccount(ctx, escrowId(id));
    const closed = { state: Deployment_State.closed, closedOn: ctx.height, closeReason: reason };
    this.#save(ctx, { ...deployment, ...closed });
    this.pruned.waiting.push(store(ctx), ctx.height + this.getParams(ctx).retentionBlocks, deploymentKey(id));
    const coin = (amount: bigint) => formatCoin({ denom, amount });
    emitDeployment(ctx, "deployment-closed", id, { more: { paid: coin(paid), returned: coin(returned) }, reason });
  }

  /** Removes deployments whose time has come from the state, at most so many records a block. */
  endBlock(ctx: Context): void {
    const { height } = ctx;
    const { waiting } = this.pruned;
    let left = this.getParams(ctx).maxPruneRecords;
    for (const { height: due, key } of waiting.due(store(ctx), height, left)) {
      if (left <= 0) return;
      let removed = 0;
      const id = idOfPath(key);
      const done = runBlockItem(ctx, `pruning of deployment ${formatDeploymentId(id)}`, (inner) => {
        removed = this.#prune(inner, id, { due, most: left });
      });
      if (!done) {
        waiting.remove(store(ctx), due, key);
        waiting.push(store(ctx), height + RETRY_BLOCKS, key);
      }
      left -= Math.max(1, removed);
    }
  }

  /** Whether a number is used up and nothing of its deployment is left in the state. */
  isPruned(ctx: Context, id: DeploymentKey): boolean {
    const key = deploymentKey(id);
    return !this.deployments.has(store(ctx), key) && this.pruned.isSpent(store(ctx), key);
  }

  /**
   * Removes the deployment's own records together with the last record of the market. Returns the number of removed
   * records.
   */
  #prune(ctx: Context, id: DeploymentKey, { due, most }: { readonly due: bigint; readonly most: number }): number {
    const { removed, isDone } = this.#market.prune(ctx, id, most);
    if (!isDone) return removed;
    const groups = this.groupsOf(ctx, id).map(idOf);
    for (const group of groups) {
      this.groups.delete(store(ctx), groupKey(group));
      this.specs.delete(store(ctx), groupKey(group));
    }
    this.#escrow.forgetAccount(ctx, escrowId(id));
    this.deployments.delete(store(ctx), deploymentKey(id));
    this.pruned.waiting.remove(store(ctx), due, deploymentKey(id));
    this.pruned.spend(ctx, store(ctx), deploymentKey(id));
    emitDeployment(ctx, "deployment-pruned", id, {});
    return removed + 2 * groups.length + 2;
  }

  /** Ends a group for good; with the last one the deployment closes. */
  closeGroup(ctx: Context, id: GroupKey): void {
    const group = this.#groupOfActive(ctx, id);
    if (group.state === Group_State.closed) throw errors.groupClosed(formatGroupId(id));
    this.#endGroup(ctx, group, { state: Group_State.closed, reason: Closed_Reason.owner });
    const isLast = this.groupsOf(ctx, id).every(({ state }) => state === Group_State.closed);
    if (isLast) this.close(ctx, id, Closed_Reason.owner);
  }

  /** Ends the group's lease and keeps its money; `startGroup` opens a new order. */
  pauseGroup(ctx: Context, id: GroupKey): void {
    const group = this.#groupOfActive(ctx, id);
    if (group.state === Group_State.closed) throw errors.groupClosed(formatGroupId(id));
    if (group.state === Group_State.paused) throw errors.groupPaused(formatGroupId(id));
    if (group.state !== Group_State.open) throw errors.groupNotOpen(formatGroupId(id));
    this.#endGroup(ctx, group, { state: Group_State.paused, reason: Closed_Reason.owner });
  }

  /** Opens a new order for a group that is paused or ran out of funds. Returns the order's sequence number. */
  startGroup(ctx: Context, id: GroupKey): number {
    const group = this.#groupOfActive(ctx, id);
    if (group.state === Group_State.closed) throw errors.groupClosed(formatGroupId(id));
    if (!STARTABLE.includes(group.state)) throw errors.groupOpen(formatGroupId(id));
    this.#saveGroup(ctx, { ...group, state: Group_State.open, closedOn: 0n, closeReason: Closed_Reason.not_closed });
    emitGroup(ctx, "group-started", id);
    return this.reopenGroup(ctx, id);
  }

  /** Opens the next order of an open group whose lease ended; the money must last for a new one. */
  reopenGroup(ctx: Context, id: GroupKey): number {
    const need = { rate: groupPrice(this.spec(ctx, id)), blocks: this.getParams(ctx).minStartBlocks };
    this.#escrow.checkFunds(ctx, escrowId(id), need);
    return this.#market.openOrder(ctx, id);
  }

  /** The market has ended what an open group had there; the group is paused until its owner acts. */
  marketEnded(ctx: Context, id: GroupKey, reason: Closed_Reason): void {
    this.#markGroup(ctx, this.group(ctx, id), { state: Group_State.paused, reason });
  }

  /**
   * The deployment's funds have run out: its groups stop, and it stays active so that money can be added. Returns how many
   * bids and leases ended.
   */
  exhausted(ctx: Context, id: DeploymentKey): number {
    const end = { state: Group_State.insufficient_funds, reason: Closed_Reason.insufficient_funds } as const;
    let ended = 0;
    for (const group of this.groupsOf(ctx, id)) {
      if (group.state !== Group_State.open && group.state !== Group_State.paused) continue;
      ended += this.#endGroup(ctx, group, end);
    }
    return ended;
  }

  /** Reports that the deployment's money will end in this many blocks. */
  lowBalance(ctx: Context, id: DeploymentKey, blocks: bigint): void {
    emitDeployment(ctx, "deployment-low-balance", id, { more: { "blocks-remaining": blocks.toString() } });
  }

  #active(ctx: Context, id: DeploymentKey): Deployment {
    const deployment = this.deployment(ctx, id);
    if (deployment.state !== Deployment_State.active) throw errors.closed(formatDeploymentId(id));
    this.#escrow.bringUpToDate(ctx, escrowId(id));
    return deployment;
  }

  #groupOfActive(ctx: Context, id: GroupKey): Group {
    this.group(ctx, id);
    this.#active(ctx, id);
    // Settling the escrow account may have changed the group.
    return this.group(ctx, id);
  }

  #endGroup(ctx: Context, group: Group, end: GroupEnd): number {
    const ended = this.#market.closeGroup(ctx, idOf(group), end.reason);
    this.#markGroup(ctx, group, end);
    return ended;
  }

  #markGroup(ctx: Context, group: Group, { state, reason }: GroupEnd): void {
    this.#saveGroup(ctx, { ...group, state, closedOn: ctx.height, closeReason: reason });
    emitGroup(ctx, END_ACTIONS[state], idOf(group), reason);
  }

  #limits(ctx: Context) {
    const { limits } = this.getParams(ctx);
    if (limits === undefined) throw errors.invalidParams("limits are missing");
    return limits;
  }

  /** A number can be used once, even after its deployment has left the state; only few can be far above the height. */
  #checkNumber(ctx: Context, id: DeploymentKey): void {
    if (!this.pruned.isSpent(store(ctx), deploymentKey(id))) {
      this.#checkFarNumber(ctx, id);
      return;
    }
    const watermark = this.pruned.watermark(store(ctx), decodeAddress(id.owner));
    const upTo = id.dseq <= watermark ? `: all numbers of this owner up to ${watermark} are` : ", which is";
    throw errors.numberUsed(`${formatDeploymentId(id)}${upTo}`);
  }

  #checkFarNumber(ctx: Context, id: DeploymentKey): void {
    const present = this.pruned.present(ctx, store(ctx));
    const nearest = present + this.getParams(ctx).retentionBlocks;
    if (id.dseq <= nearest) return;
    const owner = decodeAddress(id.owner);
    const deployments = this.deployments.keys(store(ctx), above(owner, present));
    if (!this.pruned.isFull(ctx, store(ctx), [owner, deployments])) return;
    const used = `${MAX_FAR_NUMBERS} numbers above the height ${present} are in use or used up`;
    throw errors.numberTooHigh(`${formatDeploymentId(id)}: ${used}, numbers up to ${nearest} can be used`);
  }

  #notFound(ctx: Context, id: DeploymentKey): Error {
    if (!this.isPruned(ctx, id)) return errors.notFound(formatDeploymentId(id));
    return errors.notFound(`${formatDeploymentId(id)} was closed and is no longer kept`, {
      hint: `see what it did: svc query txs --query "svc.v1.owner='${id.owner}' AND svc.v1.dseq='${id.dseq}'"`,
    });
  }

  #checkDeposit(ctx: Context, deposit: IntCoin): void {
    const { minDeposits } = this.getParams(ctx);
    const minimum = minDeposits.find(({ denom }) => denom === deposit.denom);
    if (minimum === undefined) {
      const denoms = minDeposits.map(({ denom }) => denom).join(" or ");
      throw errors.invalidDeposit(`${formatCoin(deposit)}: deployments are paid in ${denoms}`);
    }
    if (deposit.amount < (tryParseInt(minimum.amount) ?? 0n))
      throw errors.invalidDeposit(`${formatCoin(deposit)}: the minimum is ${formatCoin(minimum)}`);
  }

  #checkSponsor(ctx: Context, deposit: IntCoin): void {
    const minimum = this.getParams(ctx).minSponsorDeposits.find(({ denom }) => denom === deposit.denom);
    if (minimum === undefined || deposit.amount >= (tryParseInt(minimum.amount) ?? 0n)) return;
    throw errors.invalidDeposit(
      `${formatCoin(deposit)}: the minimum for accounts other than the owner is ${formatCoin(minimum)}`,
    );
  }

  #save(ctx: Context, deployment: Deployment): void {
    this.deployments.set(store(ctx), deploymentKey(deployment.deploymentId ?? NO_ID), deployment);
  }

  #saveGroup(ctx: Context, group: Group): void {
    this.groups.set(store(ctx), groupKey(idOf(group)), group);
  }
}

function numbersOf({ waiting, watermarks, spent, base }: PrunedNumbers) {
  return { waiting, watermarks, spent, base };
}

interface GroupEnd {
  readonly state: EndState;
  readonly reason: Closed_Reason;
}

type EndState = Group_State.paused | Group_State.insufficient_funds | Group_State.closed;

const END_ACTIONS: Readonly<Record<EndState, string>> = {
  [Group_State.paused]: "group-paused",
  [Group_State.insufficient_funds]: "group-insufficient-funds",
  [Group_State.closed]: "group-closed",
};

const NO_ID = { owner: "", dseq: 0n, gseq: 0 };

/** The id of a stored group: it always has one. */
export function idOf(group: Group): GroupKey {
  const { owner, dseq, gseq } = group.groupId ?? NO_ID;
  return { owner, dseq, gseq };
}

/** The escrow account of a deployment. */
export function escrowId(id: DeploymentKey): AccountKey {
  return { scope: "deployment", xid: formatDeploymentId(id) };
}

export function deploymentKey({ owner, dseq }: DeploymentKey): [Uint8Array, bigint] {
  return [decodeAddress(owner), dseq];
}

export function groupKey({ owner, dseq, gseq }: GroupKey): [Uint8Array, bigint, number] {
  return [decodeAddress(owner), dseq, gseq];
}

function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}
