import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runCli } from "../../../../test/cli/run.ts";
import { NodeDouble } from "../../../../test/support/node-double.ts";
import { TENANT } from "../../../../test/support/provider/leases.ts";
import { ControlServer } from "../../../provider/control/index.ts";
import type { ControlView } from "../../../provider/control/server.ts";
import { ORDER_PHASES, type OrderEntry } from "../../../provider/orders/index.ts";
import { parseDec, silentLogger } from "../../../util/index.ts";
import { Order_State, OrderSchema } from "../../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../../wire/gen/svc/market/v1beta1/query_pb.js";
import { marketErrors } from "../../../wire/index.ts";
import { PROVIDER_OPERATOR_COMMANDS } from "./specs.ts";

let home: string;
let folder: string;
const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-operate-"));
  folder = join(home, "provider");
  mkdirSync(folder);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(home, { recursive: true, force: true });
});

const provider = (...words: string[]): Promise<Ran> => runCli(["provider", ...words, "--home", home]);

const entry = (dseq: bigint, change: Partial<OrderEntry> = {}): OrderEntry => ({
  id: { owner: TENANT, dseq, gseq: 1, oseq: 1 },
  phase: "open",
  detectedAt: 1_700_000_000_000,
  ...change,
});

/** A provider as its socket shows it; the test may change its state while it runs. */
async function runs(
  change: Partial<ControlView> = {},
): Promise<{ -readonly [K in keyof ControlView]: ControlView[K] }> {
  const view = {
    provider: "svc1p",
    started_at: "then",
    draining: false,
    leases: 0,
    obstacles: [],
    orders: [],
    ...change,
  };
  const server = new ControlServer({ folder, log: silentLogger, view: () => view });
  closing.push(() => server.close());
  await server.listen();
  return view;
}

describe("svc provider orders", () => {
  const orders = [
    entry(1n, { phase: "refused", reason: "attribute \u001b[2Jx=y\nz is missing", obstacle: "final" }),
    entry(2n, { price: parseDec("0.25") }),
    entry(3n, { phase: "won" }),
  ];

  it("lists them, and no words of a tenant reach the terminal as a command", async () => {
    await runs({ orders });
    const { code, out } = await provider("orders");
    expect(code).toBe(0);
    const lines = out.trim().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain(
      `${TENANT}/1/1/1  refused  -      2023-11-14T22:13:20.000Z  attribute \\u001b[2Jx=y z is missing`,
    );
    expect(lines[2]).toMatch(/\/2\/1\/1 {2}open +0\.25 /);
  });

  it("selects by phase and by number", async () => {
    await runs({ orders });
    expect(JSON.parse((await provider("orders", "--phase", "refused", "-o", "json")).out).orders).toHaveLength(1);
    const few = await provider("orders", "--limit", "2");
    expect(few.out).not.toContain(`${TENANT}/1/1/1`);
    expect(few.err).toBe("1 older ones are not shown\n");
    expect(await provider("orders", "--limit", "0")).toMatchObject({ code: 2 });
    expect(await provider("orders", "--phase", "gone")).toMatchObject({ code: 2 });
  });

  it("says why no order is there", async () => {
    const view = await runs();
    expect(await provider("orders")).toMatchObject({
      code: 0,
      out: "",
      err: "no order has come since the provider started at then\n",
    });
    expect((await provider("orders", "-o", "json")).out).toContain('{"orders":[]}');
    view.orders = [entry(1n)];
    expect((await provider("orders", "--phase", "won")).err).toBe(
      "none of the 1 orders that the provider remembers is in phase won\n",
    );
  });

  it("takes every phase", () => {
    const flag = PROVIDER_OPERATOR_COMMANDS.find(({ name }) => name === "orders")?.flags?.find(
      ({ name }) => name === "phase",
    );
    expect(flag?.choices).toEqual(ORDER_PHASES);
  });

  it("needs a provider that runs", async () => {
    expect(await provider("orders")).toMatchObject({
      code: 1,
      err: `Error: the provider of ${home} is not running\nHint: start it: svc provider run; name another home with --home\n`,
    });
    rmSync(folder, { recursive: true });
    expect((await provider("orders")).err).toContain(`no provider has ever run in ${home}`);
  });
});

describe("svc provider why", () => {
  it("gives the reason and what would change it", async () => {
    const reason = "insufficient capacity: cpu 2000m wanted per replica, at most 1500m left on a node";
    await runs({ orders: [entry(7n, { phase: "refused", reason, obstacle: "capacity" })] });
    const { out } = await provider("why", `order/${TENANT}/7/1/1`, "-o", "json");
    expect(JSON.parse(out)).toEqual({
      order: `${TENANT}/7/1/1`,
      phase: "refused",
      reason,
      remedy: "the order gets a bid when enough leases end, or when the cluster grows",
      detected_at: "2023-11-14T22:13:20.000Z",
    });
  });

  it("says when an order gets its next bid", async () => {
    const reason = "nobody accepted its last bid in time";
    const againAt = 1_700_000_060_000;
    await runs({ orders: [entry(7n, { phase: "refused", reason, obstacle: "moment", againAt })] });
    expect(JSON.parse((await provider("why", `${TENANT}/7/1/1`, "-o", "json")).out)).toMatchObject({
      reason,
      remedy: "the provider will check the order again",
      again_at: "2023-11-14T22:14:20.000Z",
    });
  });

  it.each([
    ["final", /will not bid/],
    ["size", /--overcommit-pct-cpu/],
    ["money", /fund/],
    ["cluster", /fix what/],
    ["moment", /will check the order again/],
  ] as const)("has a remedy for the obstacle %s", async (obstacle, remedy) => {
    await runs({ orders: [entry(7n, { phase: "refused", reason: "r", obstacle })] });
    expect((await provider("why", `${TENANT}/7/1/1`)).out).toMatch(remedy);
  });

  it("says what a bid waits for", async () => {
    await runs({ orders: [entry(7n)] });
    expect((await provider("why", `${TENANT}/7/1/1`)).out).toContain("the tenant has not chosen yet");
  });

  it("asks the chain about an order that the provider does not know", async () => {
    const node = new NodeDouble();
    await node.start();
    closing.push(() => node.stop());
    await runs();
    const ask = async () => (await provider("why", `${TENANT}/7/1/1`, "--node", node.address)).err;
    const id = { owner: TENANT, dseq: 7n, gseq: 1, oseq: 1 };
    let state = Order_State.open;
    node.answerQuery(MarketQuery.method.order, () => ({
      order: create(OrderSchema, { orderId: id, state, spec: { name: "g" } }),
    }));
    expect(await ask()).toContain("is open, and the provider has not seen it");
    state = Order_State.closed;
    expect(await ask()).toContain("is closed; the provider has run since then");
    node.answerQuery(MarketQuery.method.order, () => {
      throw marketErrors.orderNotFound();
    });
    expect(await ask()).toContain("is not on the chain");
  });

  it.each(["7", `${TENANT}/7/1`, "../../etc", ""])("refuses %j", async (text) => {
    expect(await provider("why", text)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`"${text}" is not an order: write one as <owner>/<dseq>/<gseq>/<oseq>`),
    });
  });
});

describe("svc provider drain", () => {
  const mark = () => existsSync(join(folder, "drain"));

  it("is kept for the next start, and undone", async () => {
    expect(JSON.parse((await provider("drain", "-o", "json")).out)).toEqual({ draining: true, running: false });
    expect(mark()).toBe(true);
    expect(JSON.parse((await provider("drain", "--undo", "-o", "json")).out)).toEqual({
      draining: false,
      running: false,
    });
    expect(mark()).toBe(false);
  });

  it("says what is left", async () => {
    await runs({ leases: 3, orders: [entry(1n), entry(2n, { phase: "won" }), entry(3n, { phase: "bidding" })] });
    expect(JSON.parse((await provider("drain", "-o", "json")).out)).toEqual({
      draining: true,
      running: true,
      leases: 3,
      open_bids: 2,
    });
  });

  it("waits for the last lease, the last bid, and the provider's word that it drains", async () => {
    const view = await runs({ leases: 1, draining: false, orders: [entry(1n)] });
    const waiting = provider("drain", "--wait", "-o", "json");
    await expect.poll(mark).toBe(true);
    view.draining = true;
    view.leases = 0;
    view.orders = [entry(1n, { phase: "closed" })];
    expect(await waiting).toMatchObject({ code: 0 });
  });

  it("does not wait for a provider that does not run, nor wait and undo", async () => {
    expect(await provider("drain", "--wait")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not running"),
    });
    expect(await provider("drain", "--wait", "--undo")).toMatchObject({ code: 2 });
  });
});
