import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { SvcError, sdkErrors } from "../../util/index.ts";
import { LeaseSchema, Order_State, OrderSchema } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { escrowErrors, marketErrors, NOT_FOUND_ERRORS } from "../../wire/index.ts";
import { readRefusal } from "../chain/refusal.ts";
import { clientErrors } from "../errors.ts";
import { balanceNow, type ChainQuery, type MarketReader, marketReader, saysNotFound } from "./index.ts";

const id = { owner: "o", dseq: 1n, gseq: 1, oseq: 1, provider: "p" };

const readerOf = (call: () => Promise<unknown>): MarketReader =>
  marketReader({ call: async () => (await call()) as never } satisfies ChainQuery);

const reads: readonly (readonly [name: string, read: (reader: MarketReader) => Promise<unknown>])[] = [
  ["lease", ({ lease }) => lease(id)],
  ["bid", ({ bid }) => bid(id)],
  ["order", ({ order }) => order(id)],
  ["deployment", ({ deployment }) => deployment(id)],
  ["group", ({ group }) => group(id)],
  ["provider", ({ provider }) => provider("p")],
  ["certificate", ({ certificate }) => certificate("o", "1")],
];

describe("what does not exist", () => {
  it.each(NOT_FOUND_ERRORS.map((make) => [`${make.codespace}/${make.code}`, make()] as const))(
    "is known by the chain's number %s",
    (_, error) => expect(saysNotFound(error)).toBe(true),
  );

  it("is known by the words of other chains", () => {
    const log = "rpc error: code = NotFound desc = deployment 1 of svc1x not found: key not found";
    expect(saysNotFound(readRefusal({ codespace: "sdk", code: 22, log, info: "" }))).toBe(true);
    const carried = {
      codespace: "sdk",
      code: 22,
      log: "rpc error: code = NotFound desc = x: invalid request",
      info: "",
    };
    expect(saysNotFound(readRefusal(carried))).toBe(true);
  });

  it.each([
    new Error("deployment not found"),
    clientErrors.unreachable("http://node"),
    clientErrors.timeout(),
    clientErrors.closed(),
    sdkErrors.invalidRequest("x"),
    sdkErrors.invalidHeight("version does not exist"),
    new SvcError("client", sdkErrors.notFound.code, "not found"),
    marketErrors.orderClosed(),
    escrowErrors.accountNotFound("deployment/x"),
    readRefusal({
      codespace: "sdk",
      code: 22,
      log: "rpc error: code = NotFound desc = x: account not found",
      info: "escrow/3",
    }),
    { codespace: "sdk", code: sdkErrors.notFound.code },
    undefined,
  ])("is never told by %s", (error) => expect(saysNotFound(error)).toBe(false));

  it.each(reads)("reads as undefined if the chain says so, and rejects otherwise: %s", async (_, read) => {
    expect(await read(readerOf(() => Promise.reject(sdkErrors.notFound("x"))))).toBeUndefined();
    const away = clientErrors.unreachable("http://node");
    await expect(read(readerOf(() => Promise.reject(away)))).rejects.toBe(away);
  });
});

describe("lists", () => {
  const order = (dseq: bigint) =>
    create(OrderSchema, { orderId: { owner: "o", dseq, gseq: 1, oseq: 1 }, state: Order_State.open, spec: {} });

  it("are read to the end, over empty pages too", async () => {
    const pages = [
      { orders: [order(1n)], pagination: { nextKey: Uint8Array.of(1), total: 0n } },
      { orders: [], pagination: { nextKey: Uint8Array.of(2), total: 0n } },
      { orders: [order(2n)], pagination: { nextKey: new Uint8Array(), total: 0n } },
    ];
    const orders = await readerOf(async () => pages.shift()).orders({ state: "open" });
    expect(orders.map((each) => each.id.dseq)).toEqual([1n, 2n]);
  });

  it("reject as a whole when one page does not come", async () => {
    const pages = [{ orders: [order(1n)], pagination: { nextKey: Uint8Array.of(1), total: 0n } }];
    const broken = readerOf(async () => pages.shift() ?? Promise.reject(clientErrors.timeout()));
    await expect(broken.orders({})).rejects.toMatchObject({ codespace: "client" });
  });

  it("without an end are given up", async () => {
    const endless = readerOf(async () => ({ orders: [], pagination: { nextKey: Uint8Array.of(1), total: 0n } }));
    await expect(endless.orders({})).rejects.toThrow(/the node's list does not end/);
  });
});

describe("records", () => {
  it.each([0, 9])("in the unknown state %i prove nothing", async (state) => {
    const lease = create(LeaseSchema, { leaseId: id, state });
    await expect(readerOf(async () => ({ lease })).lease(id)).rejects.toThrow(/unknown lease state/);
    await expect(readerOf(async () => ({ leases: [{ lease }] })).leases({})).rejects.toThrow(/unknown lease state/);
  });

  it("without their id are refused", async () => {
    const lease = create(LeaseSchema, { state: 1 });
    await expect(readerOf(async () => ({ lease })).lease(id)).rejects.toThrow(/without the id/);
  });
});

describe("a deployment that is no longer kept", () => {
  const id = { owner: "svc1x", dseq: 3n };

  it("is known from the chain's own answer with its height, and from nothing else", async () => {
    expect(await readerOf(async () => ({ pruned: true, height: 12n })).prunedAt(id)).toBe(12n);
    expect(await readerOf(async () => ({ pruned: false, height: 12n })).prunedAt(id)).toBeUndefined();
    expect(await readerOf(async () => ({ pruned: true, height: 0n })).prunedAt(id)).toBeUndefined();
    for (const error of [sdkErrors.notFound("x"), sdkErrors.unknownRequest("unknown query path")])
      await expect(readerOf(() => Promise.reject(error)).prunedAt(id)).rejects.toBe(error);
  });
});

describe("the money of a deployment now", () => {
  const price = { denom: "utoken", amount: 0n };
  const lease = (accrued: bigint, settled: bigint) => ({ payment: { rate: price, withdrawn: 0n, accrued, settled } });

  it("is the settled balance less all that leases have earned since", () => {
    expect(balanceNow({ balance: 100n }, [lease(30n, 10n), lease(5n, 0n)])).toBe(75n);
    expect(balanceNow({ balance: 100n }, [])).toBe(100n);
    expect(balanceNow(undefined, [])).toBe(0n);
  });
});
