import { create } from "@bufbuild/protobuf";
import { DEC_ONE, NATIVE_DENOM, toUtf8 } from "../../../src/util/index.ts";
import { Group_State } from "../../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query as DeploymentQuery } from "../../../src/wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { Query } from "../../../src/wire/gen/svc/market/v1beta1/query_pb.js";
import {
  MsgCloseBidSchema,
  MsgCloseLeaseSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesSchema,
} from "../../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import {
  MsgCreateProviderSchema,
  MsgDeleteProviderSchema,
  MsgUpdateProviderSchema,
} from "../../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import type { BidKey, DeploymentKey } from "../../../src/wire/index.ts";
import type { SimAction, SimOperation, SimRandom, Simulation } from "./operation.ts";

/** Who takes part in the market. */
export interface MarketSimulation extends Simulation {
  /** bech32 */
  readonly tenants: readonly string[];
  /** bech32 */
  readonly providers: readonly string[];
  /** An account with this many deployments in the state, closed ones included, makes no more; no limit unless given. */
  readonly maxDeployments?: number;
}

/** Everything tenants and providers do, mostly sensible, now and then not. */
export const marketOperations: readonly SimOperation<MarketSimulation>[] = [
  { name: "create-provider", weight: 6, build: createProvider },
  { name: "update-provider", weight: 2, build: updateProvider },
  { name: "delete-provider", weight: 2, build: deleteProvider },
  { name: "create-deployment", weight: 7, build: createDeployment },
  { name: "deposit-deployment", weight: 8, build: depositDeployment },
  { name: "update-deployment", weight: 2, build: updateDeployment },
  { name: "close-deployment", weight: 3, build: closeDeployment },
  { name: "close-group", weight: 2, build: (sim) => groupAction(sim, MsgCloseGroupSchema) },
  { name: "pause-group", weight: 3, build: (sim) => groupAction(sim, MsgPauseGroupSchema) },
  { name: "start-group", weight: 8, build: startGroup },
  { name: "create-bid", weight: 26, build: createBid },
  { name: "close-bid", weight: 5, build: closeBid },
  { name: "create-lease", weight: 20, build: createLease },
  { name: "close-lease", weight: 4, build: closeLease },
  { name: "withdraw-lease", weight: 6, build: withdrawLease },
  { name: "withdraw-leases", weight: 3, build: withdrawLeases },
];

/** Prices per block as digits of value x 10^18: from a thousandth of a unit to 60 units. */
const PRICES = [DEC_ONE / 1000n, (DEC_ONE * 4n) / 10n, (DEC_ONE * 5n) / 4n, (DEC_ONE * 13n) / 5n, DEC_ONE * 60n];
const DEPOSITS = [1n, 3n, 40n, 1000n, 25_000n];
const REGIONS = ["eu", "us"];
/** Deployment numbers are few around the height, so that they meet; at times they are far above. */
const DSEQS = 40;
const FAR_ABOVE = 1000n;
/** Draws of a tenant until one has the wanted record. */
const DRAWS = 4;

function createProvider({ random, providers }: MarketSimulation): SimAction | undefined {
  return providerAction(random, random.pick(providers), MsgCreateProviderSchema);
}

function updateProvider({ random, providers }: MarketSimulation): SimAction | undefined {
  return providerAction(random, random.pick(providers), MsgUpdateProviderSchema);
}

function providerAction(
  random: SimRandom,
  owner: string | undefined,
  schema: typeof MsgCreateProviderSchema | typeof MsgUpdateProviderSchema,
): SimAction | undefined {
  if (owner === undefined) return undefined;
  const attributes = [{ key: "region", value: random.pick(REGIONS) ?? "" }];
  const message = { owner, hostUri: "https://provider.test:8443", attributes };
  return {
    signer: owner,
    message: create<typeof MsgCreateProviderSchema | typeof MsgUpdateProviderSchema>(schema, message),
  };
}

function deleteProvider({ random, providers }: MarketSimulation): SimAction | undefined {
  const owner = random.pick(providers);
  return owner === undefined ? undefined : { signer: owner, message: create(MsgDeleteProviderSchema, { owner }) };
}

function createDeployment(sim: MarketSimulation): SimAction | undefined {
  const { random, tenants, height, maxDeployments = Number.POSITIVE_INFINITY } = sim;
  const owner = random.pick(tenants);
  if (owner === undefined || deploymentsOf(sim, owner, "").length >= maxDeployments) return undefined;
  const lowest = height() > BigInt(DSEQS) ? height() - BigInt(DSEQS / 2) : 1n;
  const from = random.int(20) === 0 ? FAR_ABOVE : lowest;
  const groups = Array.from({ length: 1 + random.int(3) }, (_, i) => group(random, `group-${i}`));
  const message = create(MsgCreateDeploymentSchema, {
    id: { owner, dseq: from + BigInt(random.int(DSEQS)) },
    groups,
    version: new Uint8Array(32).fill(random.int(256)),
    deposit: money(random.pick(DEPOSITS) ?? 1n),
  });
  return { signer: owner, message };
}

function group(random: SimRandom, name: string) {
  const val = (digits: string) => ({ val: new Uint8Array(toUtf8(digits)) });
  const units = {
    id: 1,
    cpu: { units: val("100") },
    memory: { quantity: val("67108864") },
    storage: [{ name: "default", quantity: val("67108864") }],
  };
  const amount = (random.pick(PRICES) ?? DEC_ONE).toString();
  const isChoosy = random.int(4) === 0;
  return {
    name,
    requirements: { attributes: isChoosy ? [{ key: "region", value: random.pick(REGIONS) ?? "" }] : [] },
    resources: [{ resources: units, count: 1 + random.int(3), price: { denom: NATIVE_DENOM, amount } }],
  };
}

function depositDeployment(sim: MarketSimulation): SimAction | undefined {
  const { random, tenants, providers } = sim;
  const id = anyDeployment(sim);
  const signer = random.int(3) === 0 ? random.pick([...tenants, ...providers]) : id?.owner;
  if (id === undefined || signer === undefined) return undefined;
  const amount = money(random.pick(DEPOSITS) ?? 1n);
  return { signer, message: create(MsgDepositDeploymentSchema, { id, amount, depositor: signer }) };
}

function updateDeployment(sim: MarketSimulation): SimAction | undefined {
  const id = anyDeployment(sim);
  if (id === undefined) return undefined;
  const version = new Uint8Array(32).fill(sim.random.int(256));
  return { signer: id.owner, message: create(MsgUpdateDeploymentSchema, { id, version }) };
}

function closeDeployment(sim: MarketSimulation): SimAction | undefined {
  const id = anyDeployment(sim);
  return id === undefined ? undefined : { signer: id.owner, message: create(MsgCloseDeploymentSchema, { id }) };
}

function groupAction(
  sim: MarketSimulation,
  schema: typeof MsgCloseGroupSchema | typeof MsgPauseGroupSchema,
): SimAction | undefined {
  const id = anyDeployment(sim);
  if (id === undefined) return undefined;
  const message = { id: { ...id, gseq: 1 + sim.random.int(3) } };
  return {
    signer: id.owner,
    message: create<typeof MsgCloseGroupSchema | typeof MsgPauseGroupSchema>(schema, message),
  };
}

/** Mostly a group that is waiting to be started. */
function startGroup(sim: MarketSimulation): SimAction | undefined {
  const waiting = ofSomeTenant(sim, (owner) => deploymentsOf(sim, owner, "active"))
    .flatMap(({ groups }) => groups)
    .filter(({ state }) => sim.random.int(10) === 0 || state !== Group_State.open);
  const id = sim.random.pick(waiting)?.groupId;
  return id === undefined ? undefined : { signer: id.owner, message: create(MsgStartGroupSchema, { id }) };
}

function createBid(sim: MarketSimulation): SimAction | undefined {
  const { random } = sim;
  const state = random.int(10) === 0 ? "" : "open";
  const order = random.pick(
    ofSomeTenant(sim, (owner) => sim.query(Query.method.orders, { filters: { owner, state } }).orders),
  );
  const provider = random.int(30) === 0 ? order?.orderId?.owner : random.pick(sim.providers);
  if (order?.orderId === undefined || provider === undefined) return undefined;
  const [row] = order.spec?.resources ?? [];
  const most = BigInt(row?.price?.amount ?? "0") * BigInt(row?.count ?? 1);
  const amount = (most * BigInt(1 + random.int(21))) / 20n;
  const message = create(MsgCreateBidSchema, {
    order: order.orderId,
    provider,
    price: { denom: NATIVE_DENOM, amount: amount.toString() },
    deposit: money(5_000_000n - (random.int(20) === 0 ? 1n : 0n)),
  });
  return { signer: provider, message };
}

function closeBid(sim: MarketSimulation): SimAction | undefined {
  const bidId = anyBid(sim, sim.random.pick(["open", "open", "active", ""]) ?? "");
  if (bidId === undefined) return undefined;
  const reason = sim.random.pick([0, 10_000, 10_001, 10_003, 1]) ?? 0;
  return {
    signer: bidId.provider,
    message: create(MsgCloseBidSchema, { bidId, reason, openOnly: sim.random.int(3) === 0 }),
  };
}

function createLease(sim: MarketSimulation): SimAction | undefined {
  const bidId = anyBid(sim, sim.random.int(10) === 0 ? "" : "open");
  if (bidId === undefined) return undefined;
  const amount = (sim.random.pick(PRICES) ?? DEC_ONE).toString();
  const limit = sim.random.int(4) === 0 ? { maxPrice: { denom: NATIVE_DENOM, amount } } : {};
  return { signer: bidId.owner, message: create(MsgCreateLeaseSchema, { bidId, ...limit }) };
}

function closeLease(sim: MarketSimulation): SimAction | undefined {
  const leaseId = anyLease(sim);
  if (leaseId === undefined) return undefined;
  const reopen = sim.random.int(2) === 0;
  return { signer: leaseId.owner, message: create(MsgCloseLeaseSchema, { leaseId, reopen }) };
}

function withdrawLease(sim: MarketSimulation): SimAction | undefined {
  const bidId = anyLease(sim);
  if (bidId === undefined) return undefined;
  return { signer: bidId.provider, message: create(MsgWithdrawLeaseSchema, { bidId }) };
}

function withdrawLeases({ random, providers }: MarketSimulation): SimAction | undefined {
  const provider = random.pick(providers);
  if (provider === undefined) return undefined;
  return { signer: provider, message: create(MsgWithdrawLeasesSchema, { provider }) };
}

/**
 * A record of one of the tenants; another tenant is drawn, a few times at most, if one has none: every tenant can be
 * drawn, and the work does not grow with the market.
 */
function ofSomeTenant<T>({ random, tenants }: MarketSimulation, ask: (owner: string) => readonly T[]): readonly T[] {
  for (let i = 0; i < DRAWS; i++) {
    const found = ask(random.pick(tenants) ?? "");
    if (found.length > 0) return found;
  }
  return [];
}

function deploymentsOf({ query }: MarketSimulation, owner: string, state: string) {
  return query(DeploymentQuery.method.deployments, { filters: { owner, state } }).deployments;
}

/** Mostly one that is active. */
function anyDeployment(sim: MarketSimulation): DeploymentKey | undefined {
  const state = sim.random.int(10) === 0 ? "" : "active";
  const found = ofSomeTenant(sim, (owner) => deploymentsOf(sim, owner, state));
  return sim.random.pick(found)?.deployment?.deploymentId;
}

function anyBid(sim: MarketSimulation, state: string): BidKey | undefined {
  const { random, query } = sim;
  const bids = ofSomeTenant(sim, (owner) => query(Query.method.bids, { filters: { owner, state } }).bids);
  return random.pick(bids)?.bid?.bidId;
}

function anyLease(sim: MarketSimulation): BidKey | undefined {
  const { random, query } = sim;
  const state = random.int(10) === 0 ? "" : "active";
  const leases = ofSomeTenant(sim, (owner) => query(Query.method.leases, { filters: { owner, state } }).leases);
  return random.pick(leases)?.lease?.leaseId;
}

function money(amount: bigint): { denom: string; amount: string } {
  return { denom: NATIVE_DENOM, amount: amount.toString() };
}

/** The messages that close everything: every deployment, every open bid. */
export function closeEverything({ query }: Pick<MarketSimulation, "query">): SimAction[] {
  const { deployments } = query(DeploymentQuery.method.deployments, { filters: { state: "active" } });
  return deployments.flatMap(({ deployment }) => {
    const id = deployment?.deploymentId;
    return id === undefined ? [] : [{ signer: id.owner, message: create(MsgCloseDeploymentSchema, { id }) }];
  });
}
