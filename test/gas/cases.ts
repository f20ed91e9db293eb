import { create } from "@bufbuild/protobuf";
import { defaultParams as escrowDefaults } from "../../src/modules/escrow/genesis.ts";
import { coin, forgeCertificate, type GroupInit, MIN_DEPOSIT, price, type TestKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { MsgMultiSendSchema, MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  MsgDeleteProviderAttributesSchema,
  MsgSignProviderAttributesSchema,
} from "../../src/wire/gen/svc/audit/v1beta1/audit_pb.js";
import { MsgCreateCertificateSchema, MsgRevokeCertificateSchema } from "../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { ParamsSchema as EscrowParamsSchema } from "../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import {
  MsgCloseBidSchema,
  MsgCloseLeaseSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesSchema,
} from "../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import {
  MsgCreateProviderSchema,
  MsgDeleteProviderSchema,
  MsgUpdateProviderSchema,
} from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { toJson } from "../../src/wire/index.ts";
import { fullGroup, longAttributes, type Pair, plainGroup, shortAttributes } from "./content.ts";
import { LIMITS } from "./limits.ts";
import { GasWorld, OTHER_DENOMS, type WorldOptions, type WorldTx } from "./world.ts";

/** Makes the state for some messages and returns the transactions that are measured. */
type Prepare = (count: number) => { readonly world: GasWorld; readonly txs: readonly WorldTx[] };

export interface GasCase {
  /** What the content is. */
  readonly content: string;
  /** How many transactions are measured in a round, all in one block; few where each is large. */
  readonly count: number;
  /** Of so many transactions, those of all rounds. */
  readonly prepare: Prepare;
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const PROVIDERS = names("provider", 60);
const AUDITORS = names("auditor", LIMITS.auditors);
export const TENANT = "tenant";
const PEOPLE = [TENANT, "second", "third", ...names("payer", 7), ...PROVIDERS, ...AUDITORS, ...names("sponsor", 100)];

const VERSION = new Uint8Array(32).fill(1);
const one = (from: TestKey, message: WorldTx["messages"][number]): WorldTx => ({
  messages: [message],
  signers: [from],
});

export function newWorld(options: WorldOptions = {}): GasWorld {
  return new GasWorld(PEOPLE, options);
}

/** A world in which a block ends one bid at most: what others of them cost is the price of bids, not of what ends an order. */
function slowWorld(): GasWorld {
  const params = { ...Object(toJson(EscrowParamsSchema, escrowDefaults())), max_endblock_records: 1 };
  return newWorld({ appState: { escrow: { params } } });
}

function utoken(amount: bigint) {
  return [{ denom: NATIVE_DENOM, amount: amount.toString() }];
}

function deployment(owner: TestKey, dseq: bigint, groups: readonly GroupInit[]) {
  return create(MsgCreateDeploymentSchema, {
    id: { owner: owner.address, dseq },
    groups: [...groups],
    version: VERSION,
    deposit: coin(1_000_000_000n),
  });
}

function register(
  world: GasWorld,
  attributes: readonly Pair[] = [],
  who: readonly string[] = PROVIDERS.slice(0, LIMITS.bids),
): void {
  for (const name of who) {
    const from = world.key(name);
    const message = create(MsgCreateProviderSchema, {
      owner: from.address,
      hostUri: "https://p.test",
      attributes: [...attributes],
    });
    world.mustSend(from, [message]);
  }
}

function signAll(world: GasWorld, owner: TestKey, attributes: readonly Pair[]): void {
  for (const name of AUDITORS) {
    const auditor = world.key(name);
    const message = create(MsgSignProviderAttributesSchema, {
      owner: owner.address,
      auditor: auditor.address,
      attributes: [...attributes],
    });
    world.mustSend(auditor, [message]);
  }
}

const bid = (order: object, provider: TestKey) =>
  create(MsgCreateBidSchema, { order, provider: provider.address, price: price("0.5"), deposit: coin(MIN_DEPOSIT) });

/** A tenant's deployment of these groups in a new world. */
export function deployed(groups: readonly GroupInit[], world: GasWorld = newWorld()) {
  deploy(world, 1, () => groups);
  const tenant = world.key(TENANT);
  return { world, tenant, id: groupId(tenant, 0, 1) };
}

/** Deployments of so many groups each, from dseq 1. */
function deploy(world: GasWorld, count: number, groups: (i: number) => readonly GroupInit[]): void {
  const tenant = world.key(TENANT);
  for (let i = 0; i < count; i++) world.mustSend(tenant, [deployment(tenant, BigInt(i + 1), groups(i))]);
}

interface Area {
  readonly deployments: number;
  readonly groups: number;
  readonly providers?: number;
}

const orderIds = (world: GasWorld, { deployments, groups }: Area) =>
  Array.from({ length: deployments * groups }, (_, i) => ({
    owner: world.key(TENANT).address,
    dseq: BigInt(Math.floor(i / groups) + 1),
    gseq: (i % groups) + 1,
    oseq: 1,
  }));

function bidAll(world: GasWorld, area: Area): void {
  for (const name of PROVIDERS.slice(0, area.providers ?? LIMITS.bids)) {
    const provider = world.key(name);
    world.mustSend(
      provider,
      orderIds(world, area).map((order) => bid(order, provider)),
    );
  }
}

/** A lease with the first provider in every group. */
function leaseAll(world: GasWorld, area: Area): void {
  bidAll(world, { ...area, providers: 1 });
  const tenant = world.key(TENANT);
  const provider = world.key(PROVIDERS[0] ?? "").address;
  world.mustSend(
    tenant,
    orderIds(world, area).map((order) => create(MsgCreateLeaseSchema, { bidId: { ...order, provider } })),
  );
}

/** So many strangers add to each deployment. */
function sponsor(world: GasWorld, deployments: number, sponsors: number): void {
  for (const name of names("sponsor", sponsors)) {
    const from = world.key(name);
    const ids = Array.from({ length: deployments }, (_, i) => ({
      owner: world.key(TENANT).address,
      dseq: BigInt(i + 1),
    }));
    world.mustSend(
      from,
      ids.map((id) => create(MsgDepositDeploymentSchema, { id, depositor: from.address, amount: coin(1_000_000n) })),
    );
  }
}

const groupsNamed = (count: number, make: (name: string) => GroupInit) => names("group", count).map(make);

/** The dearest deployments to end: many groups with leases and sponsors, or with bids. */
function leased(count: number, sponsors: number) {
  const world = newWorld();
  register(world);
  const area = { deployments: count, groups: LIMITS.groups };
  deploy(world, count, () => groupsNamed(LIMITS.groups, (name) => plainGroup(name)));
  leaseAll(world, area);
  sponsor(world, count, sponsors);
  return { world, area, tenant: world.key(TENANT), provider: world.key(PROVIDERS[0] ?? "") };
}

/** Deployments of so many groups with the most bids each. */
export function withBids(count: number, groups: number, world: GasWorld = slowWorld()) {
  register(world);
  deploy(world, count, () => groupsNamed(groups, (name) => plainGroup(name)));
  bidAll(world, { deployments: count, groups });
  return { world, tenant: world.key(TENANT) };
}

const groupId = (tenant: TestKey, i: number, gseq: number) => ({ owner: tenant.address, dseq: BigInt(i + 1), gseq });

let serial = 0;
/** A certificate close to the largest: its name repeats. */
function certificate(owner: TestKey) {
  serial += 1;
  return forgeCertificate({ name: owner.address, serial: `01${serial.toString(16).padStart(8, "0")}` });
}

const parametersChange = "nobody can send it: a module's account would have to sign";
const lockedCoins = "a transfer, and a record that pays for each of its bytes";
const proofOfStake = "metered by store operation, with a bound on entries; its worst content is not written down yet";

/** Messages without a measured content, and why. */
export const NOT_MEASURED: Readonly<Record<string, string>> = {
  "sdk.staking.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.mint.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.slashing.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.distribution.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.distribution.v1beta1.MsgCommunityPoolSpend": parametersChange,
  "sdk.staking.v1beta1.MsgCreateValidator": proofOfStake,
  "sdk.staking.v1beta1.MsgEditValidator": proofOfStake,
  "sdk.staking.v1beta1.MsgDelegate": proofOfStake,
  "sdk.staking.v1beta1.MsgBeginRedelegate": proofOfStake,
  "sdk.staking.v1beta1.MsgUndelegate": proofOfStake,
  "sdk.staking.v1beta1.MsgCancelUnbondingDelegation": proofOfStake,
  "sdk.slashing.v1beta1.MsgUnjail": proofOfStake,
  "sdk.distribution.v1beta1.MsgDepositValidatorRewardsPool": proofOfStake,
  "sdk.distribution.v1beta1.MsgFundCommunityPool": proofOfStake,
  "sdk.distribution.v1beta1.MsgSetWithdrawAddress": proofOfStake,
  "sdk.distribution.v1beta1.MsgWithdrawDelegatorReward": proofOfStake,
  "sdk.distribution.v1beta1.MsgWithdrawValidatorCommission": proofOfStake,
  "sdk.vesting.v1beta1.MsgCreateVestingAccount": lockedCoins,
  "sdk.vesting.v1beta1.MsgCreatePermanentLockedAccount": lockedCoins,
  "sdk.vesting.v1beta1.MsgCreatePeriodicVestingAccount": lockedCoins,
};

/** The dearest legal contents of every message: what they cost in CPU time for their gas is measured and compared. */
export const CASES: Readonly<Record<string, readonly GasCase[]>> = {
  "sdk.bank.v1beta1.MsgSend": [
    {
      content: "one coin to a new account",
      count: 40,
      prepare: (count) => {
        const world = newWorld();
        const from = world.key(TENANT);
        const txs = names("new", count).map((name) =>
          one(
            from,
            create(MsgSendSchema, {
              fromAddress: from.address,
              toAddress: world.key(name).address,
              amount: utoken(1n),
            }),
          ),
        );
        return { world, txs };
      },
    },
    {
      content: "one coin to an account that is there",
      count: 40,
      prepare: (count) => {
        const world = newWorld();
        const from = world.key(TENANT);
        const txs = names("new", count).map(() =>
          one(
            from,
            create(MsgSendSchema, {
              fromAddress: from.address,
              toAddress: world.key("second").address,
              amount: utoken(1n),
            }),
          ),
        );
        return { world, txs };
      },
    },
    {
      content: "sixty denominations to new accounts",
      count: 10,
      prepare: (count) => {
        const world = newWorld();
        const from = world.key(TENANT);
        const amount = OTHER_DENOMS.map((denom) => ({ denom, amount: "1" }));
        const txs = names("new", count).map((name) =>
          one(from, create(MsgSendSchema, { fromAddress: from.address, toAddress: world.key(name).address, amount })),
        );
        return { world, txs };
      },
    },
  ],
  "sdk.bank.v1beta1.MsgMultiSend": [
    {
      content: "500 new accounts",
      count: 1,
      prepare: (count) => {
        const world = newWorld();
        const from = world.key(TENANT);
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            from,
            create(MsgMultiSendSchema, {
              inputs: [{ address: from.address, coins: utoken(500n) }],
              outputs: names(`new${i}-`, 500).map((name) => ({ address: world.key(name).address, coins: utoken(1n) })),
            }),
          ),
        );
        return { world, txs };
      },
    },
    {
      content: "seven senders",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        const signers = names("payer", 7).map((name) => world.key(name));
        const txs = Array.from({ length: count }, () => ({
          signers,
          messages: [
            create(MsgMultiSendSchema, {
              inputs: signers.map(({ address }) => ({ address, coins: utoken(1n) })),
              outputs: [{ address: world.key("second").address, coins: utoken(7n) }],
            }),
          ],
        }));
        return { world, txs };
      },
    },
    {
      content: "one account 500 times",
      count: 1,
      prepare: (count) => {
        const world = newWorld();
        const from = world.key(TENANT);
        const txs = Array.from({ length: count }, () =>
          one(
            from,
            create(MsgMultiSendSchema, {
              inputs: [{ address: from.address, coins: utoken(500n) }],
              outputs: Array.from({ length: 500 }, () => ({ address: world.key("second").address, coins: utoken(1n) })),
            }),
          ),
        );
        return { world, txs };
      },
    },
  ],
  "svc.cert.v1beta1.MsgCreateCertificate": [
    {
      content: "an ordinary certificate",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        const owner = world.key(TENANT);
        const txs = Array.from({ length: count }, () =>
          one(owner, create(MsgCreateCertificateSchema, { owner: owner.address, ...certificate(owner) } as never)),
        );
        return { world, txs };
      },
    },
  ],
  "svc.cert.v1beta1.MsgRevokeCertificate": [
    {
      content: "an ordinary certificate",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        const owner = world.key(TENANT);
        const first = serial + 1;
        world.mustSend(
          owner,
          Array.from({ length: count }, () =>
            create(MsgCreateCertificateSchema, { owner: owner.address, ...certificate(owner) } as never),
          ),
        );
        const txs = Array.from({ length: count }, (_, i) => {
          const number = BigInt(`0x01${(first + i).toString(16).padStart(8, "0")}`);
          return one(
            owner,
            create(MsgRevokeCertificateSchema, { id: { owner: owner.address, serial: number.toString() } }),
          );
        });
        return { world, txs };
      },
    },
  ],
  "svc.provider.v1beta1.MsgCreateProvider": [
    ...[longAttributes(LIMITS.attributes.max), shortAttributes(LIMITS.attributes.max), []].map((attributes) => ({
      content: `${attributes.length} attributes of ${(attributes[0]?.key.length ?? 0) + (attributes[0]?.value.length ?? 0)} bytes`,
      count: 8,
      prepare: (count: number) => {
        const world = newWorld();
        const txs = PROVIDERS.slice(0, count).map((name) => {
          const from = world.key(name);
          return one(
            from,
            create(MsgCreateProviderSchema, {
              owner: from.address,
              hostUri: "https://p.test",
              attributes: [...attributes],
            }),
          );
        });
        return { world, txs };
      },
    })),
  ],
  "svc.provider.v1beta1.MsgUpdateProvider": [
    {
      content: "other short attributes, as many as there can be",
      count: 8,
      prepare: (count) => {
        const world = newWorld();
        register(world, shortAttributes(LIMITS.attributes.max), PROVIDERS);
        const txs = PROVIDERS.slice(0, count).map((name) => {
          const from = world.key(name);
          const attributes = shortAttributes(LIMITS.attributes.max).map(({ key }) => ({ key: `${key}x`, value: "" }));
          return one(
            from,
            create(MsgUpdateProviderSchema, { owner: from.address, hostUri: "https://p.test", attributes }),
          );
        });
        return { world, txs };
      },
    },
    {
      content: "loses an attribute beside 100 leases of full groups",
      count: 1,
      prepare: (count) => {
        const world = newWorld();
        const required = longAttributes(20);
        const offered = [...longAttributes(LIMITS.attributes.max - 1), { key: "zz", value: "" }];
        register(world, offered, [PROVIDERS[0] ?? ""]);
        const area = { deployments: 100, groups: 1 };
        deploy(world, 100, () => [fullGroup("group", { required })]);
        leaseAll(world, area);
        const from = world.key(PROVIDERS[0] ?? "");
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
        return { world, txs };
      },
    },
  ],
  "svc.provider.v1beta1.MsgDeleteProvider": [
    {
      content: "with 100 open bids",
      count: 1,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        const area = { deployments: 5, groups: LIMITS.groups, providers: count };
        deploy(world, 5, () => groupsNamed(LIMITS.groups, (name) => plainGroup(name)));
        bidAll(world, area);
        const txs = PROVIDERS.slice(0, count).map((name) =>
          one(world.key(name), create(MsgDeleteProviderSchema, { owner: world.key(name).address })),
        );
        return { world, txs };
      },
    },
    {
      content: "with nothing",
      count: 10,
      prepare: (count) => {
        const world = newWorld();
        register(world, [], PROVIDERS);
        const txs = PROVIDERS.slice(0, count).map((name) =>
          one(world.key(name), create(MsgDeleteProviderSchema, { owner: world.key(name).address })),
        );
        return { world, txs };
      },
    },
  ],
  "svc.audit.v1beta1.MsgSignProviderAttributes": [
    {
      content: "one more beside the most attributes",
      count: 2,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        const owner = world.key(PROVIDERS[0] ?? "");
        signAll(world, owner, longAttributes(LIMITS.attributes.max));
        const txs = AUDITORS.slice(0, count).map((name) => {
          const auditor = world.key(name);
          const attributes = longAttributes(1, "n");
          return one(
            auditor,
            create(MsgSignProviderAttributesSchema, { owner: owner.address, auditor: auditor.address, attributes }),
          );
        });
        return { world, txs };
      },
    },
    {
      content: "the most short attributes",
      count: 2,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        const owner = world.key(PROVIDERS[0] ?? "");
        const txs = AUDITORS.slice(0, count).map((name) => {
          const auditor = world.key(name);
          const attributes = shortAttributes(LIMITS.attributes.max);
          return one(
            auditor,
            create(MsgSignProviderAttributesSchema, { owner: owner.address, auditor: auditor.address, attributes }),
          );
        });
        return { world, txs };
      },
    },
  ],
  "svc.audit.v1beta1.MsgDeleteProviderAttributes": [
    {
      content: "all of the most short attributes",
      count: 2,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        const owner = world.key(PROVIDERS[0] ?? "");
        signAll(world, owner, shortAttributes(LIMITS.attributes.max));
        const keys = shortAttributes(LIMITS.attributes.max).map(({ key }) => key);
        const txs = AUDITORS.slice(0, count).map((name) => {
          const auditor = world.key(name);
          return one(
            auditor,
            create(MsgDeleteProviderAttributesSchema, { owner: owner.address, auditor: auditor.address, keys }),
          );
        });
        return { world, txs };
      },
    },
    {
      content: "half of the most attributes",
      count: 2,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        const owner = world.key(PROVIDERS[0] ?? "");
        signAll(world, owner, longAttributes(LIMITS.attributes.max));
        const keys = longAttributes(Math.floor(LIMITS.attributes.max / 2)).map(({ key }) => key);
        const txs = AUDITORS.slice(0, count).map((name) => {
          const auditor = world.key(name);
          return one(
            auditor,
            create(MsgDeleteProviderAttributesSchema, { owner: owner.address, auditor: auditor.address, keys }),
          );
        });
        return { world, txs };
      },
    },
  ],
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
        const world = newWorld();
        register(world);
        deploy(world, count, () => [fullGroup("group")]);
        const provider = world.key(PROVIDERS[0] ?? "");
        return {
          world,
          txs: orderIds(world, { deployments: count, groups: 1 }).map((order) => one(provider, bid(order, provider))),
        };
      },
    },
    {
      content: "20 on an order that ends in their block, with their ends",
      count: LIMITS.bids + 1,
      prepare: (total) => {
        const world = newWorld();
        register(world);
        const count = total / (LIMITS.bids + 1);
        deploy(world, count, () => [plainGroup("group")]);
        const tenant = world.key(TENANT);
        const txs = orderIds(world, { deployments: count, groups: 1 }).flatMap((order, i) => [
          ...PROVIDERS.slice(0, LIMITS.bids).map((name) => one(world.key(name), bid(order, world.key(name)))),
          one(tenant, create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
        ]);
        return { world, txs };
      },
    },
    {
      content: "the last of 20 bids on a small group",
      count: 10,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        deploy(world, count, () => [plainGroup("group")]);
        bidAll(world, { deployments: count, groups: 1, providers: LIMITS.bids - 1 });
        const provider = world.key(PROVIDERS[LIMITS.bids - 1] ?? "");
        return {
          world,
          txs: orderIds(world, { deployments: count, groups: 1 }).map((order) => one(provider, bid(order, provider))),
        };
      },
    },
  ],
  "svc.market.v1beta1.MsgCloseBid": [
    {
      content: "an open one",
      count: 20,
      prepare: (count) => {
        const world = newWorld();
        register(world);
        deploy(world, count, () => [plainGroup("group")]);
        bidAll(world, { deployments: count, groups: 1, providers: 1 });
        const provider = world.key(PROVIDERS[0] ?? "");
        const txs = orderIds(world, { deployments: count, groups: 1 }).map((order) =>
          one(provider, create(MsgCloseBidSchema, { bidId: { ...order, provider: provider.address } })),
        );
        return { world, txs };
      },
    },
    {
      content: "a lease beside 19 others and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, provider, tenant } = leased(count, 100);
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            provider,
            create(MsgCloseBidSchema, { bidId: { ...groupId(tenant, i, 1), oseq: 1, provider: provider.address } }),
          ),
        );
        return { world, txs };
      },
    },
  ],
  "svc.market.v1beta1.MsgCreateLease": [
    {
      content: "one of 20 bids",
      count: 2,
      prepare: (count) => {
        const { world, tenant } = withBids(count, 1);
        const provider = world.key(PROVIDERS[0] ?? "").address;
        const txs = Array.from({ length: count }, (_, i) =>
          one(tenant, create(MsgCreateLeaseSchema, { bidId: { ...groupId(tenant, i, 1), oseq: 1, provider } })),
        );
        return { world, txs };
      },
    },
    {
      content: "of a full group with the most auditors and attributes",
      count: 1,
      prepare: (count) => {
        const { world, txs } = audited(count, LIMITS.required);
        world.mustRun(...txs);
        const tenant = world.key(TENANT);
        const provider = world.key(PROVIDERS[0] ?? "").address;
        return {
          world,
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
        const { world, tenant } = leased(count, 100);
        const provider = world.key(PROVIDERS[1] ?? "");
        world.mustSend(
          tenant,
          Array.from({ length: count }, (_, i) => create(MsgPauseGroupSchema, { id: groupId(tenant, i, 1) })),
        );
        world.mustSend(
          tenant,
          Array.from({ length: count }, (_, i) => create(MsgStartGroupSchema, { id: groupId(tenant, i, 1) })),
        );
        const ids = Array.from({ length: count }, (_, i) => ({ ...groupId(tenant, i, 1), oseq: 2 }));
        world.mustSend(
          provider,
          ids.map((order) => bid(order, provider)),
        );
        return {
          world,
          txs: ids.map((id) =>
            one(tenant, create(MsgCreateLeaseSchema, { bidId: { ...id, provider: provider.address } })),
          ),
        };
      },
    },
  ],
  "svc.market.v1beta1.MsgCloseLease": [
    {
      content: "beside 19 others and 100 sponsors, with a new order",
      count: 1,
      prepare: (count) => {
        const { world, provider, tenant } = leased(count, 100);
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            tenant,
            create(MsgCloseLeaseSchema, {
              leaseId: { ...groupId(tenant, i, 1), oseq: 1, provider: provider.address },
              reopen: true,
            }),
          ),
        );
        return { world, txs };
      },
    },
  ],
  "svc.market.v1beta1.MsgWithdrawLease": [
    {
      content: "beside 19 others and 100 sponsors",
      count: 1,
      prepare: (count) => {
        const { world, provider, tenant } = leased(count, 100);
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            provider,
            create(MsgWithdrawLeaseSchema, {
              bidId: { ...groupId(tenant, i, 1), oseq: 1, provider: provider.address },
            }),
          ),
        );
        return { world, txs };
      },
    },
  ],
  "svc.market.v1beta1.MsgWithdrawLeases": [
    {
      content: "200 leases in ten deployments",
      count: 1,
      prepare: (count) => {
        const { world, provider } = leased(10, 0);
        return {
          world,
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
  const world = newWorld();
  const offered = longAttributes(LIMITS.attributes.max);
  register(world, offered, [PROVIDERS[0] ?? ""]);
  const provider = world.key(PROVIDERS[0] ?? "");
  signAll(world, provider, offered);
  const auditors = AUDITORS.map((name) => world.key(name).address);
  const asked = offered.slice(-Math.min(required, 30));
  deploy(world, count, () => [fullGroup("group", { auditors, required: asked })]);
  return {
    world,
    txs: orderIds(world, { deployments: count, groups: 1 }).map((order) => one(provider, bid(order, provider))),
  };
}
