import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ControlServer, factsOf } from "../../provider/control/index.ts";
import { silentLogger } from "../../util/index.ts";
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
const changes: object[] = [];
const asked: string[] = [];
let word: Word = "yes";

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "svc-operator-"));
  mkdirSync(join(home, "provider"));
  const view = { provider: PROVIDER, started_at: "now", draining: false, leases: 1, obstacles: [], orders: [] };
  server = new ControlServer({
    folder: join(home, "provider"),
    log: silentLogger,
    view: () => view,
    facts: (state) => factsOf(state, SOURCES),
    changePrices: (change) => {
      if (change.cpu === "-1") throw new Error("a price is not negative");
      changes.push(change);
    },
  });
  await server.listen();
  word = "yes";
  for (const list of [changes, asked]) list.length = 0;
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
  const found = new Map(operatorCalls({ home, market: { leases: async () => [] }, questions: { ask } })).get(path);
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
    expect(await call("provider")).toMatchObject({ status: 503, body: { message: "the provider is not running" } });
    expect(await call("provider/prices", "{}")).toMatchObject({ status: 503 });
    await expect(requireProvider({ home })).rejects.toThrow(`no provider runs in ${home}`);
  });
});
