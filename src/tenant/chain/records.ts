import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import type { Coin, DecCoin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { Deployment_State, type Group, Group_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { QueryDeploymentResponse } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import type { Account } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { type Bid, Lease_State, type Order } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import type { QueryLeaseResponse } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import type { LeaseKey } from "../../wire/index.ts";
import type {
  BidRecord,
  DeploymentRecord,
  EscrowRecord,
  GroupRecord,
  GroupState,
  LeaseRecord,
  OrderRecord,
} from "../session/market.ts";

/** The chain's messages as records; rows without what they must have are left out, or refused where one was asked for. */

export function readDeployment(answer: QueryDeploymentResponse): DeploymentRecord | undefined {
  const { deployment, groups, escrowAccount } = answer;
  if (deployment?.deploymentId === undefined) return undefined;
  return {
    dseq: deployment.deploymentId.dseq,
    state: deployment.state === Deployment_State.active ? "active" : "closed",
    version: deployment.version,
    createdAt: deployment.createdAt,
    groups: groups.flatMap(readGroup),
    escrow: escrowAccount === undefined ? undefined : readEscrow(escrowAccount),
  };
}

const GROUP_STATES = new Map<Group_State, GroupState>([
  [Group_State.open, "open"],
  [Group_State.paused, "paused"],
  [Group_State.insufficient_funds, "insufficient_funds"],
]);

function readGroup({ groupId, state, groupSpec, closeReason }: Group): GroupRecord[] {
  if (groupId === undefined || groupSpec === undefined) return [];
  const known = GROUP_STATES.get(state) ?? "closed";
  return [{ gseq: groupId.gseq, state: known, spec: groupSpec, closeReason: reasonName(closeReason) }];
}

function readEscrow({ balance, transferred, exhaustsAt }: Account): EscrowRecord {
  const { denom, amount } = readCoin(balance);
  return { denom, balance: amount, transferred: readCoin(transferred).amount, exhaustsAt };
}

export function readOrder({ orderId, createdAt }: Order): OrderRecord[] {
  if (orderId === undefined) return [];
  const { owner, dseq, gseq, oseq } = orderId;
  return [{ id: { owner, dseq, gseq, oseq }, createdAt }];
}

export function readBid(bid: Bid | undefined): BidRecord[] {
  if (bid?.bidId === undefined) return [];
  return [{ id: leaseKey(bid.bidId), price: readPrice(bid.price), createdAt: bid.createdAt }];
}

export function readLease({ lease, escrowPayment }: QueryLeaseResponse): LeaseRecord[] {
  if (lease?.leaseId === undefined) return [];
  return [
    {
      id: leaseKey(lease.leaseId),
      state: leaseState(lease.state),
      price: readPrice(lease.price),
      closeReason: reasonName(lease.closeReason),
      withdrawn: readCoin(escrowPayment?.withdrawn).amount,
      accrued: readCoin(escrowPayment?.accrued).amount,
      settled: readCoin(escrowPayment?.balance).amount,
    },
  ];
}

function leaseState(state: Lease_State): LeaseRecord["state"] {
  if (state === Lease_State.active) return "active";
  return state === Lease_State.insufficient_funds ? "insufficient_funds" : "closed";
}

function leaseKey({ owner, dseq, gseq, oseq, provider }: LeaseKey): LeaseKey {
  return { owner, dseq, gseq, oseq, provider };
}

function reasonName(reason: Closed_Reason): string {
  return Closed_Reason[reason] ?? `reason ${reason}`;
}

export function readCoin(coin: Coin | undefined): IntCoin {
  return { denom: coin?.denom ?? "", amount: digits(coin?.amount) };
}

/** On the wire a decimal is the digits of its value times 10^18, which is also its form here. */
function readPrice(coin: DecCoin | undefined): DecimalCoin {
  return { denom: coin?.denom ?? "", amount: digits(coin?.amount) };
}

function digits(text: string | undefined): bigint {
  return BigInt(text === undefined || text === "" ? "0" : text);
}
