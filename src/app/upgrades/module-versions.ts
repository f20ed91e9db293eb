import type { Context, Module } from "../../runtime/index.ts";
import { type Database, type KVStore, stateTable, type Write } from "../../store/index.ts";
import { defineErrors, equalBytes, fromUtf8, toUtf8 } from "../../util/index.ts";
import { CONSENSUS, MODULES_KEY, UNHASHED_TABLE } from "../lastblock.ts";

export const moduleSetErrors = defineErrors("modules", {
  otherSet: [
    1,
    "the state was written by a version of svc with other modules",
    "start the version of svc that wrote it, or continue from what its svc export prints (docs/guides/node.md)",
  ],
  noMigration: [2, "the state cannot be migrated to this version"],
  tooEarly: [
    3,
    "BINARY UPDATED BEFORE TRIGGER",
    "start the version of svc that made the last block until the chain stops at that height",
  ],
  olderProgram: [4, "this program is older than the chain", "start a version of svc that has the upgrade"],
  upgradeFailed: [
    5,
    "the upgrade was not executed",
    "start a version of svc in which this is fixed, or the version before the upgrade with --unsafe-skip-upgrades <height>",
  ],
});

/** Versions of the modules' state, by the name of the module. */
export type ModuleVersions = Readonly<Record<string, number>>;

/** One step of a module's state to its next version. */
export interface Migration {
  readonly module: string;
  readonly from: number;
  run(ctx: Context): void;
}

const UNHASHED_KEY = toUtf8("modules");

/** The versions that wrote states before the set was recorded. */
const BEFORE_RECORDS: ModuleVersions = Object.fromEntries(
  ["auth", "bank", "cert", "provider", "audit", "escrow", "deployment", "market"].map((name) => [name, 1]),
);

export function versionsOf(modules: readonly Module[]): ModuleVersions {
  return Object.fromEntries(modules.map(({ name, version = 1 }) => [name, version]));
}

/** The versions that a state records: of the modules with a store. */
export function recordedVersions(modules: readonly Module[]): ModuleVersions {
  return versionsOf(modules.filter(({ store }) => store === undefined));
}

/** The modules of the versions that wrote snapshots of format 1. */
const OF_FORMAT_1: ModuleVersions = {
  ...{ auth: 1, bank: 1, consensus: 1, feegrant: 1, mint: 1, distribution: 1, slashing: 1, evidence: 1, gov: 1 },
  ...{ staking: 1, authz: 1, provider: 2, audit: 2, escrow: 2, deployment: 2, market: 2, cert: 1, genutil: 1 },
  ...{ vesting: 1 },
};

/** The set that made the state of a database. */
export function readModuleSet(tables: Pick<Database, "table">): ModuleVersions {
  const bytes = tables.table(stateTable(CONSENSUS)).get(MODULES_KEY) ?? tables.table(UNHASHED_TABLE).get(UNHASHED_KEY);
  return bytes === undefined ? BEFORE_RECORDS : JSON.parse(fromUtf8(bytes));
}

/** Whether the set in a snapshot of format 1, which no hash covers, has the versions that wrote the format. */
export function isOfFormat1(stored: ModuleVersions): boolean {
  return setText(stored) === setText(OF_FORMAT_1);
}

/** Writes the set where it is another one. */
export function recordModuleSet(store: KVStore, versions: ModuleVersions): void {
  const [value, known] = [encodeSet(versions), store.get(MODULES_KEY)];
  if (known === undefined || !equalBytes(known, value)) store.set(MODULES_KEY, value);
}

/** The record as earlier versions wrote it. */
export function unhashedSetWrite(versions: ModuleVersions): Write {
  return { table: UNHASHED_TABLE, key: UNHASHED_KEY, value: encodeSet(versions) };
}

function encodeSet(versions: ModuleVersions): Uint8Array {
  return toUtf8(JSON.stringify(versions));
}

/**
 * Compares the set that made the state with the modules that are to continue with it. The same set needs nothing; older
 * versions need their migrations, which come only when an upgrade is wanted. Throws with both sets named.
 */
export function checkModuleSet(stored: ModuleVersions, modules: readonly Module[], upgrade: boolean): Migration[] {
  const wanted = recordedVersions(modules);
  const [before, now] = [setText(stored), setText(wanted)];
  if (before === now) return [];
  const sameNames = setText(stored, false) === setText(wanted, false);
  const isNewer = Object.entries(wanted).every(([name, version]) => version >= (stored[name] ?? version));
  if (!upgrade || !sameNames || !isNewer)
    throw moduleSetErrors.otherSet(`the state is of ${before}; this program has ${now}`);
  return modules.flatMap((module) => migrationsOf(module, stored[module.name] ?? 1));
}

/**
 * Runs the migrations that are due, in the order of the modules. A failure here must stop the node: nothing may
 * continue half migrated.
 */
export function migrate(ctx: Context, due: readonly Migration[]): void {
  for (const migration of due) migration.run(ctx);
}

function migrationsOf({ name, version = 1, migrations = {} }: Module, stored: number): Migration[] {
  return Array.from({ length: version - stored }, (_, i) => {
    const from = stored + i;
    const run = migrations[from];
    if (run === undefined) throw moduleSetErrors.noMigration(`module ${name} has no migration from version ${from}`);
    return { module: name, from, run };
  });
}

/** `auth 1, bank 2`, in alphabetical order. */
function setText(versions: ModuleVersions, withVersions = true): string {
  return Object.entries(versions)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, version]) => (withVersions ? `${name} ${version}` : name))
    .join(", ");
}
