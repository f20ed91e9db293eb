import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { TestChain } from "../../../src/testing/chain.ts";
import type { TestKey } from "../../../src/testing/keys.ts";
import type { SentTx } from "../../../src/testing/sent.ts";
import { type IntCoin, NATIVE_DENOM, parseDec, toUtf8 } from "../../../src/util/index.ts";
import {
  Deployment_State,
  type Group,
  type GroupSpecSchema,
  type ResourceSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query as DeploymentQuery } from "../../../src/wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import {
  type Account,
  Query as EscrowQuery,
  type Payment,
} from "../../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import type { Bid, Lease, Order } from "../../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../../src/wire/gen/svc/market/v1beta1/query_pb.js";
import {
  MsgCloseBidSchema,
  MsgCloseLeaseSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
} from "../../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import {
  type BidKey,
  type DeploymentKey,
  formatBidId,
  formatDeploymentId,
  type OrderKey,
} from "../../../src/wire/index.ts";

/** The plain form of the argument of `create`, without finished messages. */
export type Init<D extends DescMessage> = Exclude<MessageInitShape<D>, { readonly $typeName: string }>;
export type GroupInit = Init<typeof GroupSpecSchema>;

interface RowOptions {
  /** Per replica and block, in whole and decimal units: `1.25`. */
  readonly price?: string;
  readonly denom?: string;
  readonly count?: number;
  readonly id?: number;
}

/** The least bid and deployment deposit by default. */
export const MIN_DEPOSIT = 5_000_000n;

/** Bytes of a resource value. */
export function amount(value: bigint | number): { val: Uint8Array<ArrayBuffer> } {
  return { val: new Uint8Array(toUtf8(value.toString())) };
}

/** A price as messages carry it. */
export function price(text: string, denom: string = NATIVE_DENOM): { denom: string; amount: string } {
  return { denom, amount: parseDec(text).toString() };
}

export function coin(value: bigint, denom: string = NATIVE_DENOM): { denom: string; amount: string } {
  return { denom, amount: value.toString() };
}

/** One row of small replicas. */
export function resourceRow(options: RowOptions = {}): Init<typeof ResourceSchema> {
  const { price: text = "1", denom = NATIVE_DENOM, count = 1, id = 1 } = options;
  return {
    resources: {
      id,
      cpu: { units: amount(100) },
      memory: { quantity: amount(128 << 20) },
      storage: [{ name: "default", quantity: amount(512 << 20) }],
      gpu: { units: amount(0) },
      endpoints: [{ kind: 0 }],
    },
    count,
    price: price(text, denom),
  };
}

/** A group of one row. */
export function groupSpec(name: string, options: RowOptions = {}): GroupInit {
  return { name, requirements: { signedBy: {}, attributes: [] }, resources: [resourceRow(options)] };
}

/** The actions of a tenant and of providers on a test chain, for tests of the marketplace. */
export class TestMarket {
  readonly chain: TestChain;

  constructor(chain: TestChain) {
    this.chain = chain;
  }

  /** Registers providers. */
  register(...providers: readonly TestKey[]): void {
    for (const from of providers) {
      const message = create(MsgCreateProviderSchema, { owner: from.address, hostUri: "https://provider.test:8443" });
      this.chain.mustSend(message, { from });
    }
  }

  /** Creates a deployment and returns its id. */
  deploy(
    from: TestKey,
    options: { readonly dseq: bigint; readonly groups?: GroupInit[]; readonly deposit?: IntCoin },
  ): DeploymentKey {
    const { dseq, groups = [groupSpec("web")], deposit = { denom: NATIVE_DENOM, amount: MIN_DEPOSIT } } = options;
    const id = { owner: from.address, dseq };
    const version = new Uint8Array(32).fill(1);
    const paid = coin(deposit.amount, deposit.denom);
    this.chain.mustSend(create(MsgCreateDeploymentSchema, { id, groups, version, deposit: paid }), { from });
    return id;
  }

  deposit(from: TestKey, id: DeploymentKey, value: bigint): SentTx {
    const depositor = from.address === id.owner ? "" : from.address;
    return this.chain.send(create(MsgDepositDeploymentSchema, { id, amount: coin(value), depositor }), { from });
  }

  closeDeployment(from: TestKey, id: DeploymentKey): SentTx {
    return this.chain.send(create(MsgCloseDeploymentSchema, { id }), { from });
  }

  bid(from: TestKey, order: OrderKey, text: string): SentTx {
    const message = create(MsgCreateBidSchema, {
      order,
      provider: from.address,
      price: price(text),
      deposit: coin(MIN_DEPOSIT),
    });
    return this.chain.send(message, { from });
  }

  closeBid(from: TestKey, order: OrderKey, reason = 0): SentTx {
    const bidId = { ...order, provider: from.address };
    return this.chain.send(create(MsgCloseBidSchema, { bidId, reason }), { from });
  }

  lease(from: TestKey, order: OrderKey, provider: TestKey): SentTx {
    const bidId = { ...order, provider: provider.address };
    return this.chain.send(create(MsgCreateLeaseSchema, { bidId }), { from });
  }

  closeLease(from: TestKey, order: OrderKey, options: { provider: TestKey; reopen?: boolean }): SentTx {
    const leaseId = { ...order, provider: options.provider.address };
    const message = create(MsgCloseLeaseSchema, { leaseId, reopen: options.reopen ?? false });
    return this.chain.send(message, { from });
  }

  withdraw(from: TestKey, order: OrderKey): SentTx {
    const bidId = { ...order, provider: from.address };
    return this.chain.send(create(MsgWithdrawLeaseSchema, { bidId }), { from });
  }

  /** Bids on an order, accepts the bid, and returns the lease's id. Throws when the chain refuses. */
  leased(tenant: TestKey, order: OrderKey, offer: { readonly provider: TestKey; readonly price: string }): BidKey {
    for (const sent of [this.bid(offer.provider, order, offer.price), this.lease(tenant, order, offer.provider)]) {
      if (sent.code !== 0) throw new Error(sent.log);
    }
    return { ...order, provider: offer.provider.address };
  }

  deployment(id: DeploymentKey): { readonly isActive: boolean; readonly groups: readonly Group[] } {
    const { deployment, groups } = this.chain.query(DeploymentQuery.method.deployment, { id });
    return { isActive: deployment?.state === Deployment_State.active, groups };
  }

  order(id: OrderKey): Order {
    return found(this.chain.query(MarketQuery.method.order, { id }).order);
  }

  bidOf(id: BidKey): Bid {
    return found(this.chain.query(MarketQuery.method.bid, { id }).bid);
  }

  leaseOf(id: BidKey): Lease {
    return found(this.chain.query(MarketQuery.method.lease, { id }).lease);
  }

  payment(id: BidKey): Payment {
    return found(this.chain.query(MarketQuery.method.lease, { id }).escrowPayment);
  }

  /** The escrow account of a deployment. */
  account(id: DeploymentKey): Account {
    const request = { scope: "deployment", xid: formatDeploymentId(id) };
    return found(this.chain.query(EscrowQuery.method.accounts, request).accounts[0]);
  }

  /** The escrow account of a bid's deposit. */
  bidAccount(id: BidKey): Account {
    const request = { scope: "bid", xid: formatBidId(id) };
    return found(this.chain.query(EscrowQuery.method.accounts, request).accounts[0]);
  }
}

/** The first order of a deployment's first group, or another. */
export function orderOf(id: DeploymentKey, gseq = 1, oseq = 1): OrderKey {
  return { ...id, gseq, oseq };
}

/** Actions of the marketplace's events in a transaction, in their order. */
export function actionsOf(sent: SentTx): string[] {
  return marketEvents(sent).map((event) => event.action ?? "");
}

/** The marketplace's events of a transaction as objects, in their order. */
export function marketEvents(sent: Pick<SentTx, "events">): Record<string, string>[] {
  return sent.events
    .filter(({ type }) => type === "svc.v1")
    .map(({ attributes }) => Object.fromEntries(attributes.map(({ key, value }) => [key, value])));
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("there is no such record");
  return value;
}
