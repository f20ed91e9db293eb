import { create, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { forgeCertificate } from "../../../test/support/chain/index.ts";
import { LightChain, member } from "../../../test/support/light/chain.ts";
import { simulateMarket } from "../../../test/support/market-run.ts";
import { Rng } from "../../../test/support/rng.ts";
import { sized } from "../../../test/support/runs.ts";
import { SvcError } from "../../util/index.ts";
import { Query as Auth, BaseAccountSchema, ModuleAccountSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as Distribution } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as Mint } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import { Query as Slashing } from "../../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { Query as Staking } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { MsgCreateValidatorSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { Query as Cert, MsgCreateCertificateSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { Query as Deployment } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Query as Escrow } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Query as Market } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { Query as Provider } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeAddress, encodeAddress, type ProofOp, publicKeyToAny, toJson, unpackAs } from "../../wire/index.ts";
import type { AbciQueryOptions } from "../chain/node.ts";
import { queryClient } from "../chain/query.ts";
import { isUnproven } from "../errors.ts";
import { provenNode, type VerifyOptions } from "./queries.ts";
import type { ProofSource } from "./state.ts";

const SEED = Number(process.env.SEED ?? 4711);
const LYING_QUERIES = sized(150, 3_000);
const { chain } = simulateMarket(SEED, 60, { retentionBlocks: 100n });
const { app } = chain;
stake();
publish();
const NO_PART: ProofOp = { type: "", key: new Uint8Array(), data: new Uint8Array() };
const { header: form } = new LightChain().add({ members: [member(1)] });

type Parts = readonly [ProofOp, ProofOp];

/** The proof of a key in its store, and of the store in the application; not there in an answer without proof. */
function partsOf(answer: { readonly proofOps: readonly ProofOp[] } | undefined): Parts {
  const [inStore = NO_PART, inApp = NO_PART] = answer?.proofOps ?? [];
  return [inStore, inApp];
}

/** Makes a validator, with the first account's stake. */
function stake(): void {
  const [from] = [...chain.keys.values()];
  if (from === undefined) throw new Error("the chain has accounts");
  const [validator, delegator] = [encodeAddress(decodeAddress(from.address), "valoper"), from.address];
  const pubkey = publicKeyToAny({ type: "ed25519", key: member(1).pubKey });
  const rates = { rate: "0", maxRate: "0", maxChangeRate: "0" };
  const message = create(MsgCreateValidatorSchema, {
    description: { moniker: "validator" },
    commission: rates,
    minSelfDelegation: "1",
    ...{ delegatorAddress: delegator, validatorAddress: validator, pubkey },
    value: { denom: "utoken", amount: "1000000" },
  });
  chain.mustSend(message, { from });
}

/** Publishes a certificate of the second account. */
function publish(): void {
  const [, from] = [...chain.keys.values()];
  if (from === undefined) throw new Error("the chain has accounts");
  const forged = forgeCertificate({ name: from.address, serial: "7e", secret: new Uint8Array(32).fill(1) });
  chain.mustSend(create(MsgCreateCertificateSchema, { owner: from.address, ...forged }), { from });
}

/** The node of the chain; proven reads of stores are counted by request. */
function nodeOf(lie: (store: string, value: Uint8Array) => Uint8Array = (_, value) => value) {
  const requests: number[] = [];
  const ask = (path: string, data: Uint8Array, { height = 0n, prove = false }: AbciQueryOptions = {}) => {
    const found = app.query({ path, data, height, prove });
    const [, , store = ""] = path.split("/");
    return prove ? { ...found, value: lie(store, found.value) } : found;
  };
  return {
    requests,
    abciQuery: async (path: string, data: Uint8Array, options?: AbciQueryOptions) => ask(path, data, options),
    async abciQueries(queries: readonly (AbciQueryOptions & { path: string; data: Uint8Array })[]) {
      requests.push(queries.filter(({ prove }) => prove).length);
      return queries.map(({ path, data, ...options }) => ask(path, data, options));
    },
  };
}

/** Verified headers: the one after the state. */
const light: ProofSource["light"] = {
  async latest() {
    return { ...new LightChain().add({ members: [member(1)] }), header: await this.at(chain.height + 1n) };
  },
  at: async (height) => ({ ...form, height, appHash: app.info().lastBlockAppHash }),
};

function clients(options: VerifyOptions = {}, node = nodeOf()) {
  return { plain: queryClient(node), proven: queryClient(provenNode({ node, light }, options)) };
}

const { plain } = clients();
const page = { limit: 500n };
const { deployments } = await plain.call(Deployment.method.deployments, { pagination: page });
const { orders } = await plain.call(Market.method.orders, { pagination: page });
const { bids } = await plain.call(Market.method.bids, { pagination: page });
const { leases } = await plain.call(Market.method.leases, { pagination: page });
const { providers } = await plain.call(Provider.method.providers, { pagination: page });
const { accounts } = await plain.call(Auth.method.accounts, { pagination: page });
const { validators } = await plain.call(Staking.method.validators, { pagination: page });
const addresses = accounts.flatMap((any) => unpackAs(BaseAccountSchema, any)?.address ?? []);

/** Compares the proven answer of each request with the plain one. */
async function same<M extends DescMethodUnary>(
  method: M,
  requests: readonly MessageInitShape<M["input"]>[],
): Promise<void> {
  const heights: bigint[] = [];
  const { proven } = clients({ required: true, onVerified: (height) => heights.push(height) });
  expect(requests.length).toBeGreaterThan(0);
  for (const request of requests) {
    const [expected, found] = [await plain.callAt(method, request), await proven.callAt(method, request)];
    expect(toJson(method.output, found.value)).toEqual(toJson(method.output, expected.value));
    expect(found.height).toBe(chain.height);
  }
  expect(new Set(heights)).toEqual(new Set([chain.height]));
}

describe(`proven answers after a market run of seed ${SEED}`, () => {
  it("are those of the node for balances and supplies", async () => {
    await same(
      Bank.method.balance,
      addresses.map((address) => ({ address, denom: "utoken" })),
    );
    await same(
      Bank.method.balance,
      addresses.map((address) => ({ address, denom: "absent" })),
    );
    await same(Bank.method.supplyOf, [{ denom: "utoken" }, { denom: "absent" }]);
  });

  it("are those of the node for accounts of people and modules", async () => {
    const { accounts: ofModules } = await plain.call(Auth.method.moduleAccounts, {});
    const modules = ofModules.flatMap((any) => unpackAs(ModuleAccountSchema, any)?.baseAccount?.address ?? []);
    for (const all of [addresses, modules])
      await same(
        Auth.method.account,
        all.map((address) => ({ address })),
      );
    await same(
      Auth.method.accountInfo,
      [...addresses, ...modules].map((address) => ({ address })),
    );
  });

  it("are those of the node for deployments and groups", async () => {
    const ids = deployments.flatMap(({ deployment }) => deployment?.deploymentId ?? []);
    await same(
      Deployment.method.deployment,
      ids.map((id) => ({ id })),
    );
    const groups = deployments.flatMap((each) => each.groups.flatMap(({ groupId }) => groupId ?? []));
    await same(
      Deployment.method.group,
      groups.map((id) => ({ id })),
    );
    const accountsOf = ids.map(({ owner, dseq }) => ({ scope: "deployment", xid: `${owner}/${dseq}` }));
    await same(Escrow.method.accounts, accountsOf);
  });

  it("are those of the node for orders, bids and leases with their payments", async () => {
    await same(
      Market.method.order,
      orders.flatMap(({ orderId: id }) => (id === undefined ? [] : [{ id }])),
    );
    await same(
      Market.method.bid,
      bids.flatMap(({ bid }) => (bid?.bidId === undefined ? [] : [{ id: bid.bidId }])),
    );
    await same(
      Market.method.lease,
      leases.flatMap(({ lease }) => (lease?.leaseId === undefined ? [] : [{ id: lease.leaseId }])),
    );
  });

  it("are those of the node for providers, validators and delegations", async () => {
    await same(
      Provider.method.provider,
      providers.map(({ owner }) => ({ owner })),
    );
    await same(
      Staking.method.validator,
      validators.map(({ operatorAddress: validatorAddr }) => ({ validatorAddr })),
    );
    const [{ operatorAddress: validatorAddr } = { operatorAddress: "" }] = validators;
    const { delegationResponses: found } = await plain.call(Staking.method.validatorDelegations, { validatorAddr });
    const delegators = found.map(({ delegation }) => delegation?.delegatorAddress ?? "");
    await same(
      Staking.method.delegation,
      delegators.map((delegatorAddr) => ({ delegatorAddr, validatorAddr })),
    );
  });

  it("are those of the node for parameters", async () => {
    const all = [Auth, Bank, Distribution, Mint, Slashing, Staking, Deployment, Escrow, Market];
    for (const { method } of all) await same(method.params, [{}]);
  });

  it("are those of the node for certificates", async () => {
    const owners = await Promise.all(
      addresses.map(async (owner) => {
        const found = await plain.call(Cert.method.certificates, { filter: { owner } });
        return found.certificates.map(({ serial }) => ({ filter: { owner, serial } }));
      }),
    );
    await same(Cert.method.certificates, owners.flat());
  });

  it("say that there is no such record, as the node does", async () => {
    const heights: bigint[] = [];
    const { proven } = clients({ required: true, onVerified: (height) => heights.push(height) });
    const [owner = "", provider = ""] = addresses;
    const id = { owner, dseq: 999_999n, gseq: 1, oseq: 1, provider };
    const { validatorAddr, serial } = {
      validatorAddr: encodeAddress(decodeAddress(provider), "valoper"),
      serial: "77",
    };
    const absent = Buffer.alloc(20, 7);
    const asked: (() => Promise<unknown>)[] = [plain, proven].flatMap((query) => [
      () => query.call(Deployment.method.deployment, { id }),
      () => query.call(Deployment.method.group, { id }),
      () => query.call(Market.method.order, { id }),
      () => query.call(Market.method.bid, { id }),
      () => query.call(Market.method.lease, { id }),
      () => query.call(Provider.method.provider, { owner: encodeAddress(absent) }),
      () => query.call(Cert.method.certificates, { filter: { owner, serial } }),
      () => query.call(Auth.method.account, { address: encodeAddress(absent) }),
      () => query.call(Staking.method.validator, { validatorAddr: encodeAddress(absent, "valoper") }),
      () => query.call(Staking.method.delegation, { delegatorAddr: provider, validatorAddr }),
    ]);
    const errors = await Promise.all(asked.map((ask) => ask().catch((error: SvcError) => error)));
    const ids = errors.map((error) => (error instanceof SvcError ? `${error.codespace}/${error.code}` : "an answer"));
    expect(ids.slice(10)).toEqual(ids.slice(0, 10));
    expect(ids).not.toContain("an answer");
    expect(heights).toHaveLength(10);
  });

  it("come in one request each, of some reads", async () => {
    const node = nodeOf();
    const [{ deployment } = {}] = deployments;
    const id = deployment?.deploymentId;
    if (id === undefined) throw new Error("there is a deployment");
    const { proven } = clients({ required: true }, node);
    await proven.call(Deployment.method.deployment, { id });
    await proven.call(Bank.method.balance, { address: id.owner, denom: "utoken" });
    expect(node.requests).toEqual([8, 1]);
  });

  it("share a header if they are asked together, or soon after each other where that is wanted", async () => {
    let headers = 0;
    const counted: ProofSource["light"] = {
      ...light,
      latest() {
        headers += 1;
        return light.latest();
      },
    };
    const [address = ""] = addresses;
    for (const [freshMs, expected] of [
      [0, 3],
      [60_000, 1],
    ] as const) {
      headers = 0;
      const query = queryClient(provenNode({ node: nodeOf(), light: counted }, { freshMs }));
      const ask = () => query.call(Bank.method.balance, { address, denom: "utoken" });
      await Promise.all([ask(), ask(), ask()]);
      await ask();
      await ask();
      expect(headers).toBe(expected);
    }
  });

  it("are refused if the node lies about a value, or hides a record", async () => {
    const [address = ""] = addresses;
    const [{ lease } = {}] = leases;
    const id = lease?.leaseId;
    if (id === undefined) throw new Error("there is a lease");
    const flipped = (value: Uint8Array) => value.map((byte, i) => (i === value.length - 1 ? byte ^ 1 : byte));
    for (const lie of [flipped, () => new Uint8Array()]) {
      for (const store of ["bank", "market", "escrow"]) {
        const node = nodeOf((of, value) => (of === store ? lie(value) : value));
        const { proven } = clients({}, node);
        const ask =
          store === "bank"
            ? proven.call(Bank.method.balance, { address, denom: "utoken" })
            : proven.call(Market.method.lease, { id });
        await expect(ask, store).rejects.toMatchObject({ codespace: "wire", code: 2 });
      }
    }
  });

  it.each([
    ["as it is", (other: Parts) => other],
    [
      "with the name of the right one",
      ([inStore, inApp]: Parts, [, { key }]: Parts): Parts => [inStore, { ...inApp, key }],
    ],
    ["with the root of the right one", ([inStore]: Parts, [, inApp]: Parts): Parts => [inStore, inApp]],
  ])("are refused with the proof of another store, %s", async (_, forge) => {
    const [address = ""] = addresses;
    const node = nodeOf();
    const { abciQueries: honest } = node;
    node.abciQueries = async (queries) => {
      const others = queries.map((each) => ({ ...each, path: each.path.replace("/bank/", "/staking/") }));
      const [right, wrong] = [await honest(queries), await honest(others)];
      return wrong.map((each, i) => ({ ...each, proofOps: forge(partsOf(each), partsOf(right[i])) }));
    };
    const { proven } = clients({}, node);
    const ask = proven.call(Bank.method.balance, { address, denom: "utoken" });
    await expect(ask).rejects.toMatchObject({ codespace: "wire", code: 2 });
  });

  it("are never false where the node lies in one field of one answer in a hundred", async () => {
    const rng = new Rng(SEED);
    let lies = 0;
    const flipped = (bytes: Uint8Array) => {
      const at = rng.below(bytes.length);
      return bytes.map((byte, i) => (i === at ? byte ^ (1 << rng.below(8)) : byte));
    };
    const node = nodeOf();
    const original = node.abciQueries;
    node.abciQueries = async (queries) => {
      const answers = await original(queries);
      return answers.map((each, i) => {
        if (queries[i]?.prove !== true || rng.below(100) > 0) return each;
        lies += 1;
        const { value, proofOps } = each;
        const [place, op] = [rng.below(value.length === 0 ? 3 : 4), rng.below(proofOps.length)];
        if (place === 0) return { ...each, proofOps: proofOps.filter((_, at) => at !== op) };
        if (place === 3) return { ...each, value: flipped(value) };
        const part = place === 1 ? "key" : "data";
        return {
          ...each,
          proofOps: proofOps.map((one, at) => (at === op ? { ...one, [part]: flipped(one[part]) } : one)),
        };
      });
    };
    const { proven } = clients({ required: true }, node);
    const ids = deployments.flatMap(({ deployment }) => deployment?.deploymentId ?? []);
    let refused = 0;
    for (let i = 0; i < LYING_QUERIES; i += 1) {
      const id = ids[rng.below(ids.length)] ?? { owner: "", dseq: 0n };
      const expected = await plain.call(Deployment.method.deployment, { id });
      const found = await proven.call(Deployment.method.deployment, { id }).catch((error: unknown) => {
        expect(isUnproven(error), String(error)).toBe(true);
        refused += 1;
        return expected;
      });
      expect(toJson(Deployment.method.deployment.output, found)).toEqual(
        toJson(Deployment.method.deployment.output, expected),
      );
    }
    expect(lies).toBeGreaterThan(LYING_QUERIES / 40);
    expect(refused).toBeGreaterThan(0);
  });

  it("are refused under the header of another height", async () => {
    const [address = ""] = addresses;
    const other: ProofSource["light"] = {
      ...light,
      latest: async () => ({ ...(await light.latest()), header: { ...form, height: chain.height + 1n } }),
    };
    const query = queryClient(provenNode({ node: nodeOf(), light: other }, {}));
    await expect(query.call(Bank.method.balance, { address, denom: "utoken" })).rejects.toThrow(
      "leads to another root",
    );
  });
});

describe("queries that cannot be proven", () => {
  const [address = ""] = addresses;

  it("are asked without proof, and said to be", async () => {
    const unproven: string[] = [];
    const { proven } = clients({ onUnproven: (path) => unproven.push(path) });
    const { balances } = await proven.call(Bank.method.allBalances, { address });
    await proven.call(Cert.method.certificates, { filter: { owner: address } });
    await proven.call(Escrow.method.accounts, { scope: "deployment", xid: address });
    expect(balances.length).toBeGreaterThan(0);
    expect(unproven).toEqual([
      "/sdk.bank.v1beta1.Query/AllBalances",
      "/svc.cert.v1beta1.Query/Certificates",
      "/svc.escrow.v1beta1.Query/Accounts",
    ]);
  });

  it("are refused where proof is required", async () => {
    const { proven } = clients({ required: true });
    for (const ask of [
      () => proven.call(Bank.method.allBalances, { address }),
      () => proven.call(Cert.method.certificates, { filter: { owner: address } }),
    ]) {
      await expect(ask()).rejects.toMatchObject({ codespace: "light", code: 8 });
    }
  });
});

describe("a node that has no proof of the newest height", () => {
  const [address = ""] = addresses;
  const balance = (times: number, log = "no proofs below height 9") => {
    const node = nodeOf();
    const original = node.abciQueries;
    let left = times;
    node.abciQueries = async (...args) => {
      const answers = await original(...args);
      left -= 1;
      return left < 0 ? answers : answers.map((each) => ({ ...each, proofOps: [], log }));
    };
    return clients({}, node).proven.call(Bank.method.balance, { address, denom: "utoken" });
  };

  it("is asked once more, at a newer one", () => expect(balance(1)).resolves.toBeDefined());

  it("is waited for while it is some blocks behind, and no longer", async () => {
    vi.useFakeTimers();
    try {
      const found = expect(balance(6, "cannot query with height in the future")).resolves.toBeDefined();
      const refused = expect(balance(99, "cannot query with height in the future")).rejects.toThrow("in the future");
      await vi.advanceTimersByTimeAsync(20_000);
      await Promise.all([found, refused]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is refused then", () => expect(balance(2)).rejects.toThrow("no proofs below height 9: the node gives no proof"));
});

describe("a height that nodes no longer prove", () => {
  const [address = ""] = addresses;
  const later: ProofSource["light"] = {
    ...light,
    async latest() {
      return { ...(await light.latest()), header: await light.at(chain.height + 200n) };
    },
  };
  const ask = (options: VerifyOptions) => {
    const query = queryClient(provenNode({ node: nodeOf(), light: later }, options));
    return query.call(Bank.method.balance, { address, denom: "utoken" }, { height: chain.height });
  };

  it("is read without proof, and said to be; refused where proof is required", async () => {
    const unproven: string[] = [];
    const found = await ask({ onUnproven: (path) => unproven.push(path) });
    expect(found).toEqual(await plain.call(Bank.method.balance, { address, denom: "utoken" }));
    expect(unproven).toEqual(["/sdk.bank.v1beta1.Query/Balance"]);
    await expect(ask({ required: true })).rejects.toThrow(`height ${chain.height} is too old: the node gives no proof`);
  });
});

describe("a record that the newest block has changed", () => {
  const [address = ""] = addresses;
  /** The chain as it was one block ago, and from a number of questions on as it is. */
  const balance = (blocks: number) => {
    const node = nodeOf();
    const original = node.abciQueries;
    let asked = 0;
    const before: ProofSource["light"] = {
      ...light,
      async latest() {
        const block = await light.latest();
        asked += 1;
        return asked > blocks ? { ...block, header: await light.at(chain.height + 2n) } : block;
      },
    };
    node.abciQueries = async (queries) => {
      const heights = queries.map((each) => (each.prove ? { ...each, height: chain.height } : each));
      const answers = await original(heights);
      return answers.map((each, i) =>
        queries[i]?.prove ? each : { ...each, value: Uint8Array.of(1), height: chain.height + 1n },
      );
    };
    const query = queryClient(provenNode({ node, light: before }, {}));
    const ask = query.callAt(Bank.method.balance, { address, denom: "utoken" });
    return ask.then(({ height }) => ({ height, asked }));
  };

  it("is proven by the block after it, which is awaited", async () => {
    expect(await balance(3)).toEqual({ height: chain.height + 1n, asked: 4 });
  });

  it("is proven by the newest header if that has it: a header that is used again may be some blocks old", async () => {
    const node = nodeOf();
    const original = node.abciQueries;
    const newest = chain.height + 6n;
    node.abciQueries = async (queries) => {
      const isOld = queries.some(({ prove, height }) => prove && height === chain.height);
      const answers = await original(queries.map((each) => (each.prove ? { ...each, height: chain.height } : each)));
      return answers.map((each, i) => {
        if (queries[i]?.prove) return each;
        return { ...each, ...(isOld ? { value: Uint8Array.of(1) } : {}), height: newest };
      });
    };
    let asked = 0;
    const moving: ProofSource["light"] = {
      ...light,
      async latest() {
        asked += 1;
        return { ...(await light.latest()), header: await light.at(asked === 1 ? chain.height + 1n : newest) };
      },
    };
    const query = queryClient(provenNode({ node, light: moving }, { freshMs: 60_000 }));
    const { height } = await query.callAt(Bank.method.balance, { address, denom: "utoken" });
    expect({ height, asked }).toEqual({ height: newest - 1n, asked: 2 });
  });

  it("is awaited for a while and no longer, whatever height the node names", async () => {
    vi.useFakeTimers();
    try {
      const failed = expect(balance(Number.POSITIVE_INFINITY)).rejects.toThrow("the block that proves it is not made");
      await vi.advanceTimersByTimeAsync(60_000);
      await failed;
    } finally {
      vi.useRealTimers();
    }
  });
});
