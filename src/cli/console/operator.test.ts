import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ControlServer, factsOf } from "../../provider/control/index.ts";
import type { OrderEntry } from "../../provider/orders/index.ts";
import { silentLogger } from "../../util/index.ts";
import { MAX_ORDERS } from "./limits.ts";
import { operatorCalls, requireProvider } from "./operator.ts";
import type { Word } from "./questions.ts";

const SOURCES = {
  inventory: { all: () => [], offered: () => [], available: () => [], portsLeft: () => 7 },
  leases: { records: () => [] },
  pricing: { description: "scale", flags: undefined },
};
const PROVIDER = "svc1provider";
const signal = new AbortController().signal;

let home = "";
let server: ControlServer;
const orders: OrderEntry[] = [];
const changes: object[] = [];
const asked: string[] = [];
let word: Word = "yes";
let leases = async (): Promise<never[]> => [];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "svc-operator-"));
  mkdirSync(join(home, "provider"));
  const view = { provider: PROVIDER, started_at: "now", draining: false, leases: 1, obstacles: [], orders };
  server = new ControlServer({
    folder: join(home, "provider"),
    log: silentLogger,
    view: () => view,
    facts: (state) => factsOf(state, SOURCES),
    tryPrices: async ({ cpu = "" }) => ({ bids: [{ order: "svc1tenant/1/1/1", after: cpu }] }),
    changePrices: (change) => {
      if (change.cpu === "-1") throw new Error("a price is not negative");
      changes.push(change);
    },
  });
  await server.listen();
  word = "yes";
  leases = async () => [];
  for (const list of [changes, asked, orders]) list.length = 0;
});

afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true });
});

function call(path: string, body = "") {
  const ask = async (text: string): Promise<Word> => {
    asked.push(text);
    return word;
  };
  const found = new Map(operatorCalls({ home, market: { leases }, questions: { ask } })).get(path);
  if (found === undefined) throw new Error(`${path} is not answered`);
  return found.answer(body, signal);
}

describe("the operator's page", () => {
  it("reads the facts of the provider that runs in the home", async () => {
    expect((await requireProvider({ home })).provider).toBe(PROVIDER);
    expect(await call("provider")).toMatchObject({
      status: 200,
      body: { provider: PROVIDER, ports_left: 7, earnings: [] },
    });
  });

  it("gets the latest orders alone, and facts without earnings while the chain does not answer", async () => {
    for (let dseq = 1n; dseq <= MAX_ORDERS + 2; dseq++)
      orders.push({ id: { owner: "svc1tenant", dseq, gseq: 1, oseq: 1 }, phase: "open", detectedAt: 0 });
    leases = () => Promise.reject(new Error("the node is away"));
    const { status, body } = await call("provider");
    expect(status).toBe(200);
    expect(body).toMatchObject({ omitted: 2, orders: expect.objectContaining({ length: MAX_ORDERS }) });
    expect(body).not.toHaveProperty("earnings");
  });

  it("computes bids at other prices without a question", async () => {
    const bids = [{ order: "svc1tenant/1/1/1", after: "2" }];
    expect(await call("provider/prices/try", '{"cpu":"2"}')).toEqual({ status: 200, body: { bids } });
    expect([asked, changes]).toEqual([[], []]);
    expect(await call("provider/prices/try", "7")).toMatchObject({ status: 400 });
  });

  it("changes prices once the user has agreed to them", async () => {
    expect(await call("provider/prices", '{"cpu":"2"}')).toEqual({ status: 200, body: {} });
    expect(changes).toEqual([{ cpu: "2" }]);
    expect(asked).toEqual([`The console asks to change prices of the provider in ${home}:\n{"cpu":"2"}`]);
    word = "no";
    expect(await call("provider/prices", '{"cpu":"3"}')).toMatchObject({ status: 403 });
    expect(changes).toHaveLength(1);
  });

  it("is told why prices cannot be, and asks for no other form", async () => {
    const message = expect.stringContaining("not negative");
    expect(await call("provider/prices", '{"cpu":"-1"}')).toMatchObject({ status: 400, body: { message } });
    asked.length = 0;
    for (const body of ["", '{"cpu":2}', JSON.stringify({ cpu: "1".repeat(1_001) })]) {
      expect(await call("provider/prices", body)).toMatchObject({ status: 400 });
    }
    expect([asked, changes]).toEqual([[], []]);
  });

  it("says that the provider is gone", async () => {
    await server.close();
    expect(await call("provider")).toMatchObject({
      status: 503,
      body: { message: `no provider runs in ${home}: start it with svc provider run` },
    });
    expect(await call("provider/prices", "{}")).toMatchObject({ status: 503 });
    await expect(requireProvider({ home })).rejects.toThrow(`no provider runs in ${home}`);
  });
});
