import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  type Application,
  type BlockEvidence,
  DEFAULT_CONSENSUS_PARAMS,
  NO_EVIDENCE,
  NO_VOTERS,
} from "../abci/index.ts";
import { consensusModule } from "../modules/consensus/index.ts";
import { type BlockUpdates, type Context, defineGenesis, defineModule, type Module } from "../runtime/index.ts";
import { type Database, DatabaseFault, memoryDatabase } from "../store/index.ts";
import { SvcError, toHex, toUtf8 } from "../util/index.ts";
import { GenesisStateSchema } from "../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { createApp, moduleSet } from "./index.ts";

/** An application whose modules do what a test says, as an engine sees it. */

type Behaviour = Partial<Pick<Module, "version" | "migrations" | "beginBlock" | "endBlock" | "vital">>;

function probe(name: string, behaviour: Behaviour): Module {
  const genesis = defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    init: () => {},
    export: () => create(GenesisStateSchema),
  });
  return defineModule({ name, genesis, ...behaviour });
}

interface Setting {
  readonly database?: Database;
  readonly upgrade?: boolean;
}

function appWith(modules: Readonly<Record<string, Behaviour>>, { database = memoryDatabase(), upgrade }: Setting = {}) {
  const set = moduleSet(() => Object.entries(modules).map(([name, behaviour]) => probe(name, behaviour)));
  return createApp({ database, set, ...(upgrade === undefined ? {} : { upgrade }) });
}

function begun(modules: Readonly<Record<string, Behaviour>>, setting: Setting = {}): Application {
  const app = appWith(modules, setting);
  const consensusParams = DEFAULT_CONSENSUS_PARAMS;
  app.initChain({ chainId: "test-1", time: 1n, initialHeight: 1n, validators: [], consensusParams, appState: {} });
  return app;
}

function block(app: Application, height: bigint, evidence: BlockEvidence = NO_EVIDENCE) {
  const place = { ...NO_VOTERS, ...evidence, height, time: height * 10n, proposer: new Uint8Array(20) };
  const result = app.finalizeBlock({ ...place, txs: [], hash: new Uint8Array(32) });
  app.commit();
  return result;
}

const VALIDATORS = [{ pubKey: new Uint8Array(32).fill(1), power: 7n }];
const PARAMS = { ...DEFAULT_CONSENSUS_PARAMS, block: { maxBytes: 1_000_000n, maxGas: 5n } };
const updating = (updates: BlockUpdates): Behaviour => ({ endBlock: () => updates });

describe("what a block changes about consensus", () => {
  test("is what the modules say at its end", () => {
    expect(block(begun({ one: {} }), 1n)).toMatchObject({ validatorUpdates: [], consensusParamUpdates: undefined });
    const set = (ctx: Context): undefined => void consensusModule().keeper.setParams(ctx, PARAMS);
    const app = begun({ one: updating({ validators: VALIDATORS }), two: { endBlock: set } });
    expect(block(app, 1n)).toMatchObject({ validatorUpdates: VALIDATORS, consensusParamUpdates: PARAMS });
    // Sent only once: the engine keeps them.
    expect(block(app, 2n).consensusParamUpdates).toBeUndefined();
  });

  test("comes from one module alone", () => {
    const app = begun({ one: updating({ validators: VALIDATORS }), two: updating({ validators: [] }) });
    expect(() => block(app, 1n)).toThrow("two modules change the voters");
  });

  test("is nothing if the item failed", () => {
    const fails: Behaviour = {
      endBlock: () => {
        throw new SvcError("probe", 1, "no");
      },
    };
    expect(block(begun({ one: fails }), 1n).validatorUpdates).toEqual([]);
  });
});

describe("an item that fails", () => {
  const write = (key: string) => (ctx: Context) => ctx.store("one").set(toUtf8(key), toUtf8("x"));
  const failing = (key: string, error: unknown) => (ctx: Context) => {
    write(key)(ctx);
    throw error;
  };
  const refusal = new SvcError("probe", 1, "no");
  const phases = ["beginBlock", "endBlock"] as const;

  test.each(phases)("at %s is reported and dropped, whatever it throws, and the block goes on", (phase) => {
    for (const error of [refusal, new Error("a fault"), "text"]) {
      const app = begun({ one: { [phase]: failing("a", error) }, two: { endBlock: write("b") as never } });
      const untouched = begun({ one: {}, two: { endBlock: write("b") as never } });
      const { appHash, events } = block(app, 1n);
      expect(toHex(appHash)).toBe(toHex(block(untouched, 1n).appHash));
      expect(events.map(({ type }) => type)).toEqual(["block_item_failed"]);
      // The text of a fault may differ between machines.
      expect(JSON.stringify(events)).not.toContain("a fault");
    }
  });

  test.each(phases)("at %s and is vital ends the block, of which nothing is kept", (phase) => {
    for (const error of [refusal, new Error("a fault")]) {
      let isBroken = true;
      const vital: Behaviour = {
        vital: [phase],
        [phase]: (ctx: Context) => (isBroken ? failing("a", error)(ctx) : undefined),
      };
      const app = begun({ one: vital, two: { endBlock: write("b") as never } });
      const name = phase === "beginBlock" ? "one/begin_block" : "one/end_block";
      expect(() => block(app, 1n)).toThrow(`${name} of block 1 failed, and no block is made without it: `);
      expect(() => block(app, 1n)).toThrow(error.message);
      expect(app.info().lastBlockHeight).toBe(0n);
      isBroken = false;
      const { appHash } = block(app, 1n);
      expect(toHex(appHash)).toBe(toHex(block(begun({ one: {}, two: { endBlock: write("b") as never } }), 1n).appHash));
    }
  });

  test.each(phases)(
    "at %s because the database cannot be read ends the block: other machines can read theirs",
    (phase) => {
      const app = begun({ one: { [phase]: failing("a", new DatabaseFault(new Error("MDB_CORRUPTED"))) } });
      expect(() => block(app, 1n)).toThrow("MDB_CORRUPTED");
      expect(app.info().lastBlockHeight).toBe(0n);
    },
  );
});

test("votes and evidence come to the items of the block, and to nothing after it", () => {
  const seen: BlockEvidence[] = [];
  const watch = (ctx: Context): undefined => void seen.push(ctx.evidence);
  const app = begun({ one: { beginBlock: watch, endBlock: watch } });
  const validator = { address: new Uint8Array(20).fill(3), power: 4n };
  const evidence: BlockEvidence = {
    lastCommit: { round: 2, votes: [{ validator, flag: 1 }] },
    misbehavior: [{ kind: "duplicateVote", validator, height: 1n, time: 5n, totalVotingPower: 9n }],
  };
  block(app, 1n, evidence);
  block(app, 2n);
  expect(seen).toEqual([evidence, evidence, NO_EVIDENCE, NO_EVIDENCE]);
});

test("there are no snapshots, and none is taken", () => {
  const app = begun({});
  const snapshot = { height: 1n, format: 1, chunks: 1, hash: new Uint8Array(32), metadata: new Uint8Array() };
  expect(app.listSnapshots()).toEqual([]);
  expect(app.offerSnapshot({ snapshot, appHash: new Uint8Array(32) })).toBe("abort");
  expect(app.loadSnapshotChunk({ height: 1n, format: 1, chunk: 0 })).toEqual(new Uint8Array(0));
  expect(app.applySnapshotChunk({ index: 0, chunk: toUtf8("x"), sender: "peer" }).result).toBe("abort");
});

describe("a state of other modules", () => {
  const write = (key: string) => (ctx: Context) => ctx.store("one").set(toUtf8(key), toUtf8("x"));

  test("is refused with both sets named", () => {
    const database = memoryDatabase();
    block(begun({ one: {} }, { database }), 1n);
    expect(() => appWith({ one: {}, two: {} }, { database })).toThrow(
      "the state is of auth 1, bank 1, consensus 1, feegrant 1, one 1; this program has auth 1, bank 1, consensus 1, feegrant 1, one 1, two 1: " +
        "the state was written by a version of svc with other modules",
    );
    expect(() => appWith({ one: { version: 2 } }, { database })).toThrow(
      "this program has auth 1, bank 1, consensus 1, feegrant 1, one 2:",
    );
    expect(() => appWith({ one: {}, two: {} }, { database, upgrade: true })).toThrow("with other modules");
    expect(appWith({ one: {} }, { database }).info().lastBlockHeight).toBe(1n);
  });

  test("is migrated once, by the next block, if an upgrade is wanted", () => {
    const database = memoryDatabase();
    block(begun({ one: {} }, { database }), 1n);
    const migrated = { one: { version: 3, migrations: { 1: write("a"), 2: write("b") } } };
    const app = appWith(migrated, { database, upgrade: true });
    const before = toHex(app.info().lastBlockAppHash);
    block(app, 2n);
    const hash = toHex(app.info().lastBlockAppHash);
    expect(hash).not.toBe(before);
    const again = appWith(migrated, { database });
    block(again, 3n);
    expect(toHex(again.info().lastBlockAppHash)).not.toBe(hash);
    expect(() => appWith({ one: { version: 2 } }, { database, upgrade: true })).toThrow("with other modules");
  });

  test("needs every migration in between", () => {
    const database = memoryDatabase();
    block(begun({ one: {} }, { database }), 1n);
    const gap = { one: { version: 3, migrations: { 1: write("a") } } };
    expect(() => appWith(gap, { database, upgrade: true })).toThrow("module one has no migration from version 2");
  });
});
