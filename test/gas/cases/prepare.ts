import { create } from "@bufbuild/protobuf";
import { defaultParams as escrowDefaults } from "../../../src/modules/escrow/genesis.ts";
import { MAX_METADATA } from "../../../src/modules/gov/limits.ts";
import { type Database, memoryDatabase } from "../../../src/store/index.ts";
import type { TestKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { VoteOption } from "../../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import { MsgSubmitProposalSchema, MsgVoteWeightedSchema } from "../../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { MsgSignProviderAttributesSchema } from "../../../src/wire/gen/svc/audit/v1beta1/audit_pb.js";
import {
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
} from "../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { ParamsSchema as EscrowParamsSchema } from "../../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { MsgCreateBidSchema, MsgCreateLeaseSchema } from "../../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { toJson } from "../../../src/wire/index.ts";
import { coin, type GroupInit, MIN_DEPOSIT, price } from "../../support/chain/index.ts";
import { GasChain, type GasChainOptions, type GasTx } from "../chain.ts";
import { type Pair, plainGroup } from "../content.ts";
import { LIMITS } from "../limits.ts";

/** Makes the state for some messages and returns the transactions that are measured. */
export type Prepare = (count: number) => { readonly chain: GasChain; readonly txs: readonly GasTx[] };

export interface GasCase {
  /** Description of the content. */
  readonly content: string;
  /** How many transactions are measured in a round, all in one block; few where each is large. */
  readonly count: number;
  /** Number of transactions in all rounds. */
  readonly prepare: Prepare;
}

/** A chain, the account that signs in it, and its messages by their numbers. */
export interface Sender {
  readonly chain: GasChain;
  readonly from: TestKey | ((i: number) => TestKey);
  readonly message: (i: number) => GasTx["messages"][number];
}

/** A case of transactions with one message each, of a chain that is made for this many. */
export function sending(content: string, count: number, make: (count: number) => Sender): GasCase {
  const prepare = (total: number) => {
    const { chain, from, message } = make(total);
    const signer = (i: number) => (typeof from === "function" ? from(i) : from);
    return { chain, txs: Array.from({ length: total }, (_, i) => one(signer(i), message(i))) };
  };
  return { content, count, prepare };
}

/** Cases by the full names of messages. */
export type Cases = Readonly<Record<string, readonly GasCase[]>>;

export const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
export const PROVIDERS = names("provider", 60);
export const AUDITORS = names("auditor", LIMITS.auditors);
export const TENANT = "tenant";
/** Operators of validators in the worlds that have some. */
export const OPERATORS = names("operator", 120);
const PEOPLE = [
  ...[TENANT, "second", "third", ...names("payer", 7)],
  ...[...PROVIDERS, ...AUDITORS, ...names("sponsor", 100), ...OPERATORS],
];

/** Signers of attributes, if each can sign once: the auditors, or a crowd. */
export const WITNESSES = [...AUDITORS];

/**
 * Makes this many more providers, auditors and operators, for blocks of messages that each can send once; other worlds
 * need none.
 */
export function crowd(size: number): void {
  for (const [known, prefix] of [
    [PROVIDERS, "provider"],
    [WITNESSES, "auditor"],
    [OPERATORS, "operator"],
  ] as const) {
    const more = names(prefix, size).slice(known.length);
    known.push(...more);
    PEOPLE.push(...more);
  }
}

const VERSION = new Uint8Array(32).fill(1);
export const one = (from: TestKey, message: GasTx["messages"][number]): GasTx => ({
  messages: [message],
  signers: [from],
});

/** Database of a world: in memory, unless a benchmark sets another. */
export const databases: { make: () => Database } = { make: memoryDatabase };

export function newChain(options: GasChainOptions = {}): GasChain {
  return new GasChain(PEOPLE, { database: databases.make(), ...options });
}

/**
 * A chain in which a block closes at most one bid: the price of bids pays for the rest, not the message that closes an
 * order.
 */
export function slowChain(): GasChain {
  const params = { ...Object(toJson(EscrowParamsSchema, escrowDefaults())), max_endblock_records: 1 };
  return newChain({ appState: { escrow: { params } } });
}

export function utoken(amount: bigint) {
  return [{ denom: NATIVE_DENOM, amount: amount.toString() }];
}

export function deployment(owner: TestKey, dseq: bigint, groups: readonly GroupInit[]) {
  return create(MsgCreateDeploymentSchema, {
    id: { owner: owner.address, dseq },
    groups: [...groups],
    version: VERSION,
    deposit: coin(1_000_000_000n),
  });
}

export function register(
  chain: GasChain,
  attributes: readonly Pair[] = [],
  who: readonly string[] = PROVIDERS.slice(0, LIMITS.bids),
): void {
  for (const name of who) {
    const from = chain.key(name);
    const message = create(MsgCreateProviderSchema, {
      owner: from.address,
      hostUri: "https://p.test",
      attributes: [...attributes],
    });
    chain.mustSend(from, [message]);
  }
}

export function signAll(
  chain: GasChain,
  owner: TestKey,
  { attributes, by = AUDITORS }: { readonly attributes: readonly Pair[]; readonly by?: readonly string[] },
): void {
  for (const name of by) {
    const auditor = chain.key(name);
    const message = create(MsgSignProviderAttributesSchema, {
      owner: owner.address,
      auditor: auditor.address,
      attributes: [...attributes],
    });
    chain.mustSend(auditor, [message]);
  }
}

export const bid = (order: object, { address: provider }: TestKey, amount = "0.5") =>
  create(MsgCreateBidSchema, { order, provider, price: price(amount), deposit: coin(MIN_DEPOSIT) });

/** A tenant's deployment of these groups in a new chain. */
export function deployed(groups: readonly GroupInit[], chain: GasChain = newChain()) {
  deploy(chain, 1, () => groups);
  const tenant = chain.key(TENANT);
  return { chain, tenant, id: groupId(tenant, 0, 1) };
}

/** Deployments of this many groups each, from dseq 1. */
export function deploy(chain: GasChain, count: number, groups: (i: number) => readonly GroupInit[]): void {
  const tenant = chain.key(TENANT);
  for (let i = 0; i < count; i++) chain.mustSend(tenant, [deployment(tenant, BigInt(i + 1), groups(i))]);
}

export interface Area {
  readonly deployments: number;
  readonly groups: number;
  readonly providers?: number;
}

export const orderIds = (chain: GasChain, { deployments, groups }: Area) =>
  Array.from({ length: deployments * groups }, (_, i) => ({
    owner: chain.key(TENANT).address,
    dseq: BigInt(Math.floor(i / groups) + 1),
    gseq: (i % groups) + 1,
    oseq: 1,
  }));

export function bidAll(chain: GasChain, area: Area): void {
  for (const name of PROVIDERS.slice(0, area.providers ?? LIMITS.bids)) {
    const provider = chain.key(name);
    chain.mustSend(
      provider,
      orderIds(chain, area).map((order) => bid(order, provider)),
    );
  }
}

/** A lease with the first provider in every group. */
export function leaseAll(chain: GasChain, area: Area): void {
  bidAll(chain, { ...area, providers: 1 });
  const tenant = chain.key(TENANT);
  const provider = chain.key(PROVIDERS[0] ?? "").address;
  chain.mustSend(
    tenant,
    orderIds(chain, area).map((order) => create(MsgCreateLeaseSchema, { bidId: { ...order, provider } })),
  );
}

/** This many strangers add to each deployment. */
export function sponsor(chain: GasChain, deployments: number, sponsors: number): void {
  for (const name of names("sponsor", sponsors)) {
    const from = chain.key(name);
    const ids = Array.from({ length: deployments }, (_, i) => ({
      owner: chain.key(TENANT).address,
      dseq: BigInt(i + 1),
    }));
    chain.mustSend(
      from,
      ids.map((id) => create(MsgDepositDeploymentSchema, { id, depositor: from.address, amount: coin(1_000_000n) })),
    );
  }
}

export const groupsNamed = (count: number, make: (name: string) => GroupInit) => names("group", count).map(make);

/** The deployments that are most expensive to close: many groups with leases and sponsors, or with bids. */
export function leased(count: number, sponsors: number) {
  const chain = newChain();
  register(chain);
  const area = { deployments: count, groups: LIMITS.groups };
  deploy(chain, count, () => groupsNamed(LIMITS.groups, (name) => plainGroup(name)));
  leaseAll(chain, area);
  sponsor(chain, count, sponsors);
  return { chain, area, tenant: chain.key(TENANT), provider: chain.key(PROVIDERS[0] ?? "") };
}

/** Deployments of this many groups with the most bids each. */
export function withBids(count: number, groups: number, chain: GasChain = slowChain()) {
  register(chain);
  deploy(chain, count, () => groupsNamed(groups, (name) => plainGroup(name)));
  bidAll(chain, { deployments: count, groups });
  return { chain, tenant: chain.key(TENANT) };
}

export const groupId = (tenant: TestKey, i: number, gseq: number) => ({
  owner: tenant.address,
  dseq: BigInt(i + 1),
  gseq,
});

/** The longest words beside a vote. */
export const METADATA = "m".repeat(MAX_METADATA);

/** A proposal in its vote, without messages. */
export const shortProposal = ({ address: proposer }: TestKey) =>
  create(MsgSubmitProposalSchema, {
    ...{ initialDeposit: utoken(10_000_000n), proposer, title: "T", summary: "S", metadata: "m" },
  });

export const splitVote = (key: TestKey, proposalId: bigint) =>
  create(MsgVoteWeightedSchema, {
    ...{ proposalId, voter: key.address, metadata: METADATA },
    options: [VoteOption.YES, VoteOption.ABSTAIN, VoteOption.NO, VoteOption.NO_WITH_VETO].map((option) => ({
      option,
      weight: "0.25",
    })),
  });
