/**
 * CPU and wall time of short commands of the checkout's `./svc`, compared with an empty Node.js process and the
 * ecosystem's reference tool in the same rounds. Without Go to build the tool, its rows are left out. `BENCH_ARCHIVE=<folder of an
 * unpacked release>` adds `svc version` of that release beside its own Node.js.
 *
 * npm run bench -- startup [rounds]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPeer, type Peer, type PeerName } from "../test/interop/peers.ts";
import { Fixture, ROOT, svcOk } from "../test/support/index.ts";
import { type Cost, costOf } from "./lib/cpu.ts";
import { Report } from "./lib/report.ts";
import { median } from "./lib/stats.ts";

/**
 * A command of one program, and the title by which it is compared: the same command of another program has the same
 * title.
 */
interface Row {
  readonly program: string;
  readonly title: string;
  readonly command: readonly string[];
}

const EMPTY = "node -e 0";
const [ARCHIVE, ARCHIVED_NODE] = ["svc of a release", "node -e 0 of a release"];
const NAMES = ["alice", "bob", "carol"];
const CHAIN = ["--chain-id", "svc-bench-1"];
const KEYRING = ["--keyring-backend", "test"];
const [rounds = 20] = process.argv.slice(2).map(Number);

type Run = (args: readonly string[]) => Promise<string>;

/** Three keys and a transfer to sign, made by the program itself in its home. */
async function commandsOf(run: Run, home: string, denom: string): Promise<Map<string, readonly string[]>> {
  const keyring = ["--home", home, ...KEYRING];
  for (const name of NAMES) await run(["keys", "add", name, ...keyring]);
  const [from = "", to = ""] = await Promise.all(
    ["alice", "bob"].map(async (name) => (await run(["keys", "show", name, "-a", ...keyring])).trim()),
  );
  const unsigned = join(home, "unsigned.json");
  writeFileSync(unsigned, JSON.stringify(transfer(from, to, denom)));
  const sign = ["tx", "sign", unsigned, "--offline", "-a", "1", "-s", "0", ...CHAIN, "--from", "alice", ...keyring];
  return new Map([
    ["version", ["version"]],
    ["keys list", ["keys", "list", ...keyring]],
    ["tx sign --offline", sign],
  ]);
}

/** An unsigned transfer as every tool of the family writes it (`--generate-only`). */
function transfer(from: string, to: string, denom: string): object {
  const amount = (units: number): object[] => [{ denom, amount: `${units}` }];
  const message = { "@type": "/cosmos.bank.v1beta1.MsgSend", from_address: from, to_address: to, amount: amount(1000) };
  const body = { messages: [message], memo: "", timeout_height: "0" };
  const extensions = { extension_options: [], non_critical_extension_options: [] };
  const fee = { amount: amount(500), gas_limit: "200000", payer: "", granter: "" };
  return { body: { ...body, ...extensions }, auth_info: { signer_infos: [], fee }, signatures: [] };
}

async function rowsOf(program: string, binary: string, commands: Promise<Map<string, readonly string[]>>) {
  return [...(await commands)].map(([title, args]): Row => ({ program, title, command: [binary, ...args] }));
}

function archived(folder: string | undefined): Row[] {
  if (folder === undefined) return [];
  return [
    { program: ARCHIVED_NODE, title: "", command: [join(folder, "lib", "node"), "-e", "0"] },
    { program: ARCHIVE, title: "version", command: [join(folder, "bin", "svc"), "version"] },
  ];
}

/** A reference tool, or nothing and the reason if it cannot be built. */
async function peer(name: PeerName): Promise<Peer | undefined> {
  const built = await buildPeer(name);
  if (!("missing" in built)) return built;
  console.error(`left out: ${name}: ${built.missing}`);
  return undefined;
}

const fixture = new Fixture();
const peers = (await Promise.all([peer("simd42"), peer("simd53")])).filter((each) => each !== undefined);
try {
  const svc = join(ROOT, "svc");
  const home = fixture.tempHome();
  const rows = [
    { program: EMPTY, title: "", command: [process.execPath, "-e", "0"] },
    ...(await rowsOf("svc", svc, commandsOf(svcOk, home, "utoken"))),
    { program: "svc", title: "--help", command: [svc, "--help"] },
    ...archived(process.env.BENCH_ARCHIVE),
  ];
  for (const each of peers) {
    const run: Run = async (args) => each.ok(args);
    rows.push(...(await rowsOf(each.name, each.binary, commandsOf(run, each.home, "stake"))));
  }
  const costs = measure(rows, { PATH: process.env.PATH, HOME: fixture.folder });
  report(rows, costs);
} finally {
  for (const each of peers) each.remove();
  await fixture.close();
}

/** All commands in turn, `rounds` times; the first round, which fills caches, is not counted. */
function measure(rows: readonly Row[], env: NodeJS.ProcessEnv): ReadonlyMap<Row, readonly Cost[]> {
  const costs = new Map<Row, Cost[]>(rows.map((row) => [row, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [row, samples] of costs) {
      const cost = costOf(row.command, env);
      if (round > 0) samples.push(cost);
    }
  }
  return costs;
}

function report(rows: readonly Row[], costs: ReadonlyMap<Row, readonly Cost[]>): void {
  const method =
    "User and system time of the whole command, shell wrapper included, measured by bash; all commands in turn, medians.";
  const figures = new Report("startup", method);
  const cpu = (row: Row): number[] => (costs.get(row) ?? []).map(({ cpuMs }) => cpuMs);
  const wall = (row: Row): number[] => (costs.get(row) ?? []).map(({ wallMs }) => wallMs);
  for (const row of rows) {
    const name = `${row.program} ${row.title}`.trim();
    figures.add({ name: `${name}: CPU`, unit: "ms", samples: cpu(row) });
    figures.add({ name: `${name}: wall`, unit: "ms", samples: wall(row) });
  }
  const empty = median(rows.filter(({ program }) => program === EMPTY).flatMap(cpu));
  const own = rows.filter(({ program }) => program === "svc");
  for (const row of own) {
    const samples = cpu(row).map((value) => value / empty);
    const target = row.title === "version" ? { target: { atMost: 1.5 } } : {};
    figures.add({ name: `svc ${row.title}: CPU over that of ${EMPTY}`, unit: "x", samples, ...target });
  }
  const archivedNode = median(rows.filter(({ program }) => program === ARCHIVED_NODE).flatMap(cpu));
  for (const row of rows.filter(({ program }) => program === ARCHIVE)) {
    const samples = cpu(row).map((value) => value / archivedNode);
    const name = `${ARCHIVE} version: CPU over that of its Node.js`;
    figures.add({ name, unit: "x", samples, target: { atMost: 1.3 } });
  }
  for (const row of rows.filter(({ program }) => program.startsWith("simd"))) {
    const ours = own.find(({ title }) => title === row.title);
    if (ours === undefined) continue;
    for (const [kind, samplesOf] of [["CPU", cpu] as const, ["wall", wall] as const]) {
      const theirs = median(samplesOf(row));
      const samples = samplesOf(ours).map((value) => value / theirs);
      const name = `svc ${row.title}: ${kind} over that of ${row.program}`;
      figures.add({ name, unit: "x", samples, target: { atMost: 1 } });
    }
  }
  figures.save();
}
