import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../../abci/index.ts";
import { type Context, defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { copyMemoryDatabase, type Database, memoryDatabase } from "../../store/index.ts";
import { fromUtf8, SvcError, toHex, toUtf8 } from "../../util/index.ts";
import {
  QueryAppliedPlanRequestSchema,
  QueryAppliedPlanResponseSchema,
} from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { GenesisStateSchema } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { decodeMessage, encodeMessage } from "../../wire/index.ts";
import { createApp, moduleSet, type SvcApplication } from "../index.ts";
import { type UpgradeHandlers, UpgradeNeeded } from "./upgrades.ts";

/** A chain with the upgrade v2 planned for height 5, under programs that differ in what they know of it. */

const HEIGHT = 5n;
const PLAN = { name: "v2", height: `${HEIGHT}`, info: "see the page" };
const KEY = toUtf8("form");

type Part = Partial<Pick<Module, "version" | "migrations" | "invariants">>;

interface Program {
  readonly part?: Part;
  readonly upgrades?: UpgradeHandlers;
  readonly skippedUpgrades?: readonly bigint[];
  /** Migrations without a plan, as the embedded engine runs them. */
  readonly upgrade?: boolean;
}

const write = (text: string) => (ctx: Context) => ctx.store("one").set(KEY, toUtf8(text));
const OLD: Program = {};
const V2: UpgradeHandlers = { v2: () => {} };
const NEW: Program = { part: { version: 2, migrations: { 1: write("two") } }, upgrades: V2 };

function open(database: Database, { part = {}, ...options }: Program): SvcApplication {
  const genesis = defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    init: write("one"),
    export: () => create(GenesisStateSchema),
  });
  return createApp({ database, set: moduleSet(() => [defineModule({ name: "one", genesis, ...part })]), ...options });
}

/** A chain that the old program made up to a height. */
function chainAt(height: bigint, plan: object = PLAN): Database {
  const database = memoryDatabase();
  const app = open(database, OLD);
  const consensusParams = DEFAULT_CONSENSUS_PARAMS;
  const appState = { upgrade: { plan } };
  app.initChain({ chainId: "test-1", time: 1n, initialHeight: 1n, validators: [], consensusParams, appState });
  for (let made = 0n; made < height; made++) block(app);
  return database;
}

const place = (app: SvcApplication) => {
  const height = app.info().lastBlockHeight + 1n;
  return { ...NO_VOTERS, height, time: height * 10n, proposer: new Uint8Array(20) };
};

function block(app: SvcApplication) {
  const result = app.finalizeBlock({ ...place(app), txs: [], hash: new Uint8Array(32) });
  app.commit();
  return result;
}

const propose = (app: SvcApplication, txs: readonly Uint8Array[] = []) =>
  app.prepareProposal({ ...place(app), txs, maxBytes: 1_000_000 });
const accepts = (app: SvcApplication) => app.processProposal({ ...place(app), txs: [], hash: new Uint8Array(32) });
const form = (app: SvcApplication) => fromUtf8(app.state.store("one").get(KEY) ?? new Uint8Array());
const typesOf = ({ events }: { events: readonly { type: string }[] }) => events.map(({ type }) => type);

function appliedAt(app: SvcApplication, name: string): bigint {
  const data = encodeMessage(QueryAppliedPlanRequestSchema, create(QueryAppliedPlanRequestSchema, { name }));
  const { value } = app.query({ path: "/sdk.upgrade.v1beta1.Query/AppliedPlan", data, height: 0n, prove: false });
  return decodeMessage(QueryAppliedPlanResponseSchema, value).height;
}

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("the program before an upgrade", () => {
  test("makes every block below the height, and none from there on, however often it starts", () => {
    const database = chainAt(HEIGHT - 1n);
    for (let starts = 0; starts < 3; starts++) {
      const app = open(database, OLD);
      const before = app.info();
      for (const work of [() => app.checkNextBlock(), () => propose(app), () => accepts(app), () => block(app)]) {
        const error = refusal(work);
        expect(error).toBeInstanceOf(UpgradeNeeded);
        expect(error).toMatchObject({ message: 'UPGRADE "v2" NEEDED at height: 5: see the page' });
      }
      expect(app.info()).toEqual(before);
      expect(before.lastBlockHeight).toBe(HEIGHT - 1n);
    }
  });

  test("stops whatever waits in the mempool", () => {
    const txs = Array.from({ length: 5000 }, (_, i) => toUtf8(`waiting ${i}`));
    expect(refusal(() => propose(open(chainAt(HEIGHT - 1n), OLD), txs))).toBeInstanceOf(UpgradeNeeded);
    expect(propose(open(chainAt(HEIGHT - 2n), OLD), txs)).toEqual([]);
  });

  test("does not take a name of every object for an upgrade that it has", () => {
    for (const name of ["constructor", "toString", "hasOwnProperty"]) {
      const app = open(chainAt(HEIGHT - 1n, { ...PLAN, name }), OLD);
      expect(() => block(app)).toThrow(`UPGRADE "${name}" NEEDED`);
    }
  });

  test("goes on where the height is skipped, and the plan is dropped", () => {
    const app = open(chainAt(HEIGHT - 1n), { ...OLD, skippedUpgrades: [HEIGHT] });
    expect(propose(app)).toEqual([]);
    expect(typesOf(block(app))).toContain("upgrade_skipped");
    block(app);
    expect([appliedAt(app, "v2"), form(app)]).toEqual([0n, "one"]);
    expect(() => block(open(chainAt(HEIGHT - 1n), { ...OLD, skippedUpgrades: [HEIGHT + 1n] }))).toThrow("NEEDED");
  });

  test("does not continue after the upgrade, also if no module migrated", () => {
    const database = chainAt(HEIGHT - 1n);
    block(open(database, { upgrades: V2 }));
    const app = open(database, OLD);
    for (const work of [() => app.checkNextBlock(), () => block(app)])
      expect(work).toThrow("upgrade v2 was applied at height 5: this program is older than the chain");
    expect(app.info().lastBlockHeight).toBe(HEIGHT);
  });
});

describe("the program after an upgrade", () => {
  test("makes no block before the height, where the chain can run it at all", () => {
    const database = chainAt(HEIGHT - 2n);
    expect(() => open(database, NEW)).toThrow("with other modules");
    const app = open(database, { ...NEW, upgrade: true });
    for (const work of [() => app.checkNextBlock(), () => propose(app), () => block(app)])
      expect(work).toThrow("upgrade v2 is planned for height 5, the next block is 4: BINARY UPDATED BEFORE TRIGGER");
    expect(() => open(chainAt(HEIGHT - 2n), { upgrades: V2 }).checkNextBlock()).toThrow("BEFORE TRIGGER");
    expect(form(open(database, OLD))).toBe("one");
  });

  test.each([true, false])("migrates in the block of the height, migrations without a plan: %s", (upgrade) => {
    const database = chainAt(HEIGHT - 1n);
    const add = (ctx: Context) => write(`${fromUtf8(ctx.store("one").get(KEY) ?? KEY)} and more`)(ctx);
    const program: Program = { ...NEW, upgrade, upgrades: { v1: () => {}, v2: add } };
    const app = open(database, program);
    expect([propose(app), accepts(app)]).toEqual([[], true]);
    // A proposal is rehearsed on a copy.
    expect(form(app)).toBe("one");
    expect(typesOf(block(app))).toContain("upgrade_applied");
    expect([form(app), appliedAt(app, "v2")]).toEqual(["two and more", HEIGHT]);
    block(app);
    const again = open(database, program);
    expect(typesOf(block(again))).not.toContain("upgrade_applied");
    expect([form(again), again.info().lastBlockHeight]).toEqual(["two and more", HEIGHT + 2n]);
  });

  test("comes to the same state wherever it executes the block", () => {
    const [one, other] = [chainAt(HEIGHT - 1n), chainAt(HEIGHT - 1n)];
    const hashes = [one, copyMemoryDatabase(one), other].map((database) => {
      const app = open(database, NEW);
      return toHex(block(app).appHash);
    });
    expect(new Set(hashes).size).toBe(1);
  });

  test("executes the block again after it was rolled back", () => {
    const database = chainAt(HEIGHT - 1n);
    const before = open(database, OLD).info();
    const app = open(database, NEW);
    const { appHash } = block(app);
    app.state.rollback();
    expect(open(database, OLD).info()).toEqual(before);
    expect(() => block(open(database, OLD))).toThrow("NEEDED");
    expect(toHex(block(open(database, NEW)).appHash)).toBe(toHex(appHash));
  });
});

test("applied upgrades go with an exported state, also to another chain", () => {
  const database = chainAt(HEIGHT - 1n);
  const app = open(database, NEW);
  block(app);
  block(app);
  const { appState = {} } = app.exportAt(HEIGHT + 1n) ?? {};
  expect(appState).toMatchObject({ upgrade: { plan: null, applied: [{ name: "v2", height: "5" }] } });
  const restarted = app.restartAt(HEIGHT + 1n, {})?.appState ?? {};
  expect(restarted).toMatchObject({ upgrade: { applied: [{ name: "v2", height: "-1" }] } });
  const begin = (program: Program) => {
    const other = open(memoryDatabase(), program);
    const consensusParams = DEFAULT_CONSENSUS_PARAMS;
    const start = { chainId: "test-2", time: 1n, initialHeight: 1n, validators: [], consensusParams };
    other.initChain({ ...start, appState: restarted });
    block(other);
    return other;
  };
  expect(appliedAt(begin(NEW), "v2")).toBe(-1n);
  expect(() => begin(OLD)).toThrow("older than the chain");
});

describe("an upgrade that fails", () => {
  const fails = (): void => {
    throw new SvcError("one", 1, "the form is unknown");
  };
  const broken = { holds: () => "two coins are one" };
  const brokenAfter = {
    holds: (ctx: Context) => (fromUtf8(ctx.store("one").get(KEY) ?? KEY) === "two" ? "two coins are one" : undefined),
  };

  test.each<[string, Program, string]>([
    ["in a migration", { ...NEW, part: { version: 2, migrations: { 1: fails } } }, "the form is unknown"],
    [
      "in a programming error",
      { ...NEW, upgrades: { v2: () => void [1].flatMap(() => BigInt("x")) } },
      "Cannot convert x to a BigInt",
    ],
    ["in its own changes", { ...NEW, upgrades: { v2: fails } }, "the form is unknown"],
    ["by an invariant before it", { upgrades: V2, part: { invariants: broken } }, "two coins are one"],
    ["by an invariant after it", { ...NEW, part: { ...NEW.part, invariants: brokenAfter } }, "two coins are one"],
  ])("leaves the chain at the height, and the next program continues: %s", (_, program, words) => {
    const database = chainAt(HEIGHT - 1n);
    const before = open(database, OLD).info();
    for (let starts = 0; starts < 2; starts++) {
      const app = open(database, program);
      expect(() => app.tryNextBlock()).toThrow("upgrade v2 failed at height 5, and nothing of it was kept: ");
      expect(() => block(app)).toThrow("upgrade v2 failed at height 5, and nothing of it was kept: ");
      expect(() => block(app)).toThrow(words);
      expect(app.info()).toEqual(before);
      expect(form(app)).toBe("one");
    }
    expect(() => block(open(database, OLD))).toThrow("NEEDED");
    const mended = open(database, NEW);
    mended.tryNextBlock();
    expect([form(mended), mended.info()]).toEqual(["one", before]);
    block(mended);
    expect([form(mended), appliedAt(mended, "v2")]).toEqual(["two", HEIGHT]);
  });
});
