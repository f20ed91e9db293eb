import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CommandSpec } from "../src/cli/command/spec.ts";
import { ROOT } from "../src/cli/root.ts";
import { consensusAddress } from "../src/crypto/index.ts";
import { decodeAddress, encodeAddress } from "../src/wire/index.ts";
import { type FixedChain, fixedChain } from "./cli/fixed-chain.ts";
import { runCli } from "./cli/run.ts";
import { NodeDouble, statusAnswer } from "./support/node-double.ts";
import cliVectors from "./vectors/cli-live-sdk042.json" with { type: "json" };
import stakingVectors from "./vectors/staking-live-sdk053.json" with { type: "json" };

/*
 * Output of commands, in files that are part of the review of every change. `npm run golden` writes them again; files
 * of removed commands must be deleted by hand.
 */
const GOLDEN = join(import.meta.dirname, "cli", "golden");

interface Entry {
  readonly words: string;
  readonly spec: CommandSpec;
}

async function entries(spec: CommandSpec, words: readonly string[] = []): Promise<Entry[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => entries(child, [...words, child.name])));
  return [{ words: words.join(" "), spec }, ...below.flat()];
}

const all = await entries(ROOT);
const fileName = (words: string): string => `${["svc", ...words.split(" ").filter(Boolean)].join("-")}.txt`;

const queryFile = (row: string): string => fileName(row.replaceAll(/ -+/g, " ").replaceAll(/[=.]/g, "-"));

function filesIn(folder: string): string[] {
  const path = join(GOLDEN, folder);
  return existsSync(path) ? readdirSync(path) : [];
}

describe("help", () => {
  test.each(all)("svc $words --help", async ({ words }) => {
    const { code, out, err } = await runCli([...words.split(" ").filter(Boolean), "--help"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    await expect(out).toMatchFileSnapshot(join(GOLDEN, "help", fileName(words)));
  });

  test("there is no file of a command that is gone", () => {
    const known = new Set(all.map(({ words }) => fileName(words)));
    expect(filesIn("help").filter((name) => !known.has(name))).toEqual([]);
  });
});

const SDL = `version: "2.0"
services:
  web:
    image: localhost/sample:1
    expose: [{ port: 80, as: 80, to: [{ global: true }] }]
profiles:
  compute:
    small: { resources: { cpu: { units: 0.1 }, memory: { size: 32Mi }, storage: { size: 64Mi } } }
  placement:
    anywhere: { pricing: { small: { denom: utoken, amount: 100 } } }
deployment:
  web: { anywhere: { profile: small, count: 1 } }
`;
const PROVIDER = "host: https://provider.example.com:8443\nattributes: [{ key: region, value: eu-west }]\n";

let chain: FixedChain;
let places: ReadonlyMap<string, string> = new Map();

/** A lease that runs, an order that waits, audited attributes, a transfer. */
/** Keys that sign no blocks: this chain makes all blocks itself. */
const consensusKey = (fill: number) =>
  JSON.stringify({ "@type": "/sdk.crypto.ed25519.PubKey", key: Buffer.alloc(32, fill).toString("base64") });

/**
 * Two validators, and a delegator that has moved a part from the first to the second and is taking another part back.
 */
async function stake(tenant: string, provider: string, auditor: string): Promise<void> {
  const [validator, other] = [valoper(provider), valoper(auditor)];
  const create = ["staking", "create-validator", "--amount", "10000000utoken", "--commission-rate", "0.1"];
  await chain.tx(...create, "--moniker", "first", "--pubkey", consensusKey(1), "--from", "provider");
  await chain.tx(...create, "--moniker", "second", "--pubkey", consensusKey(2), "--from", "auditor");
  await chain.tx("staking", "delegate", validator, "5000000utoken", "--from", tenant);
  await chain.tx("staking", "redelegate", validator, other, "2000000utoken", "--from", tenant);
  await chain.tx("staking", "unbond", validator, "1000000utoken", "--from", tenant);
}

beforeAll(async () => {
  chain = await fixedChain("tenant", "provider", "auditor");
  const { tenant = "", provider = "", auditor = "" } = chain.addresses;
  await chain.tx("provider", "create", chain.file("provider.yaml", PROVIDER), "--from", "provider");
  await chain.tx("audit", "attr", "create", provider, "region", "eu-west", "--from", "auditor");
  await chain.tx("cert", "create", "client", "--nbf", "2026-01-01T00:00:00Z", "--naf", "3650d", "--from", "tenant");
  const sdl = chain.file("deploy.yaml", SDL);
  await chain.tx("deployment", "create", sdl, "--dseq", "7", "--from", "tenant");
  await chain.tx("deployment", "create", sdl, "--dseq", "9", "--from", "tenant");
  const order = ["--owner", tenant, "--dseq", "7"];
  await chain.tx("market", "bid", "create", ...order, "--price", "2.5utoken", "--from", "provider");
  await chain.tx("market", "lease", "create", "--dseq", "7", "--provider", provider, "--from", "tenant");
  const hash = await chain.tx("bank", "send", "auditor", tenant, "7utoken", "--memo", "thanks");
  chain.blocks(3);
  await stake(tenant, provider, auditor);
  places = new Map([
    ["TENANT", tenant],
    ["PROVIDER", provider],
    ["AUDITOR", auditor],
    ["VALIDATOR", valoper(provider)],
    ["OTHER", valoper(auditor)],
    ["VALCONS", encodeAddress(consensusAddress(Buffer.alloc(32, 1)), "valcons")],
    ["HASH", hash],
    ["SENT", `${auditor}/1`],
  ]);
});
afterAll(() => chain.stop());

const valoper = (address: string): string => encodeAddress(decodeAddress(address), "valoper");

/** Arguments of each query; a query has one row or several. */
const QUERIES: readonly string[] = [
  "query account TENANT",
  "query gov proposals",
  "query gov votes 1",
  "query gov deposits 1",
  "query gov constitution",
  "query gov params",
  "query gov param voting",
  "query tx HASH",
  "query tx --type acc_seq SENT",
  "query wait-tx HASH",
  "query txs --events message.action=send",
  "query block 3",
  "query block-results 3",
  "query blocks 2 3",
  "query comet-validator-set",
  "query blocks --query block.height=3",
  "query auth account PROVIDER",
  "query auth accounts",
  "query auth account-info PROVIDER",
  "query auth bech32-prefix",
  "query auth module-accounts",
  "query auth module-account escrow",
  "query auth params",
  "query bank balances TENANT",
  "query bank balances TENANT --denom utoken",
  "query bank balances TENANT --limit 1 --count-total",
  "query bank spendable-balances TENANT",
  "query bank balance TENANT utoken",
  "query bank spendable-balance TENANT utoken",
  "query bank total",
  "query bank total --denom utoken",
  "query bank supply-of utoken",
  "query bank params",
  "query bank denom-owners stake",
  "query bank send-enabled",
  "query bank denom-metadata utoken",
  "query bank denoms-metadata",
  "query cert list",
  "query provider list",
  "query provider get PROVIDER",
  "query audit get PROVIDER",
  "query audit get PROVIDER AUDITOR",
  "query audit list",
  "query audit auditor AUDITOR",
  "query deployment list",
  "query deployment get --owner TENANT --dseq 7",
  "query deployment group get --owner TENANT --dseq 7 --gseq 1",
  "query deployment params",
  "query deployment pruned --owner TENANT --dseq 7",
  "query market order list",
  "query market order get --owner TENANT --dseq 9",
  "query market bid list",
  "query market bid get --owner TENANT --dseq 7 --provider PROVIDER",
  "query market lease list",
  "query market lease get --owner TENANT --dseq 7 --provider PROVIDER",
  "query market params",
  "query escrow accounts",
  "query escrow payments",
  "query escrow params",
  "query escrow blocks-remaining --owner TENANT --dseq 7",
  "status",
  "query staking validators",
  "query staking validator VALIDATOR",
  "query staking delegation TENANT VALIDATOR",
  "query staking delegations TENANT",
  "query staking delegations-to VALIDATOR",
  "query staking unbonding-delegation TENANT VALIDATOR",
  "query staking unbonding-delegations TENANT",
  "query staking unbonding-delegations-from VALIDATOR",
  "query staking redelegation TENANT VALIDATOR OTHER",
  "query staking redelegations TENANT",
  "query staking redelegations-from VALIDATOR",
  "query staking delegator-validators TENANT",
  "query staking delegator-validator TENANT VALIDATOR",
  "query staking historical-info 3",
  "query staking pool",
  "query staking params",
  "query distribution rewards TENANT",
  "query distribution rewards TENANT VALIDATOR",
  "query distribution rewards-by-validator TENANT VALIDATOR",
  "query distribution params",
  "query distribution validator-distribution-info VALIDATOR",
  "query distribution validator-outstanding-rewards VALIDATOR",
  "query distribution commission VALIDATOR",
  "query distribution slashes VALIDATOR 0 100",
  "query distribution delegator-validators TENANT",
  "query distribution delegator-withdraw-address TENANT",
  "query distribution community-pool",
  "query slashing params",
  "query slashing signing-info VALCONS",
  "query slashing signing-infos",
  "query mint params",
  "query mint inflation",
  "query mint annual-provisions",
  "query authz grants TENANT PROVIDER",
  "query authz grants-by-granter TENANT",
  "query authz grants-by-grantee TENANT",
  "query feegrant grants-by-granter TENANT",
  "query feegrant grants-by-grantee TENANT",
  "query evidence",
  "query consensus params",
  "query params subspaces",
  "query upgrade plan",
  "query upgrade applied v2",
  "query upgrade module-versions",
  "query upgrade authority",
];

/** Queries for records that are not on the test's chain. */
const ABSENT: readonly string[] = [
  "query gov proposal 1",
  "query gov proposer 1",
  "query gov vote 1 TENANT",
  "query gov deposit 1 TENANT",
  "query gov tally 1",
  `query evidence ${"AB".repeat(32)}`,
];

/** Queries of modules that other chains have: the answers of a chain without them. */
const ELSEWHERE: readonly string[] = [
  "query params subspace baseapp BlockParams",
  "query feegrant grant TENANT PROVIDER",
];

/**
 * Masks hashes of blocks and states, which change with every module, and certificates, which change with every run: the
 * test looks at the form.
 */
function masked(text: string): string {
  return (
    text
      // YAML quotes a hash that could be read as something else than a text.
      .replaceAll(/: "([0-9A-F]{64})"$/gm, ": $1")
      .replaceAll(/\b[0-9A-F]{64}\b/g, "<64 hex digits>")
      .replaceAll(/\b[A-Za-z0-9+/]{86}==/g, "<signature>")
      .replaceAll(/\b[A-Za-z0-9+/]{90,}=*/g, "<base64>")
      .replaceAll(/("?serial"?: ?"?)\d+/g, "$1<number>")
  );
}

function recorded(args: readonly string[]): ReturnType<typeof JSON.parse> {
  const found = cliVectors.find((each) => each.args.join(" ") === args.join(" "));
  return JSON.parse(found?.stdout ?? "null");
}

/** Paths of all values that are not lists. */
function fields(json: unknown, path = ""): string[] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return [path];
  return Object.entries(json).flatMap(([key, value]) => fields(value, `${path}.${key}`));
}

const isQuery = ({ words, spec }: Entry): boolean => words.startsWith("query ") && spec.load !== undefined;

describe("queries", () => {
  test("all have a row", () => {
    const missing = all
      .filter(isQuery)
      .filter(({ words }) => ![...QUERIES, ...ABSENT, ...ELSEWHERE].some((row) => `${row} `.startsWith(`${words} `)));
    expect(missing.map(({ words }) => words)).toEqual([]);
  });

  test.each(QUERIES)("svc %s", async (row) => {
    const argv = row.split(" ").map((word) => places.get(word) ?? word);
    const shown: string[] = [];
    for (const format of ["text", "json"]) {
      const { code, out, err } = await chain.run([...argv, "-o", format]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      if (format === "json") expect(() => JSON.parse(out)).not.toThrow();
      shown.push(`$ svc ${row} -o ${format}\n${out}`);
    }
    await expect(masked(shown.join("\n"))).toMatchFileSnapshot(join(GOLDEN, "query", queryFile(row)));
  });

  test.each([...ABSENT, ...ELSEWHERE])("svc %s of a record or a module that is not there", async (row) => {
    const { code, out, err } = await chain.run(row.split(" ").map((word) => places.get(word) ?? word));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    await expect(`$ svc ${row}\n${err}`).toMatchFileSnapshot(join(GOLDEN, "query", queryFile(row)));
  });

  test("a block and the state of a node have the fields that the reference tool prints", async () => {
    const json = async (...words: string[]) => JSON.parse((await chain.run([...words, "-o", "json"])).out);
    const block = recorded(["query", "block", "2"]);
    expect(fields(await json("query", "block", "3"))).toEqual(expect.arrayContaining(fields(block)));
    const { NodeInfo, SyncInfo, ValidatorInfo } = recorded(["status"]);
    const status = await json("status");
    expect(fields(status.node_info)).toEqual(expect.arrayContaining(fields(NodeInfo)));
    expect(fields(status.sync_info)).toEqual(expect.arrayContaining(fields(SyncInfo)));
    // The older tool spells these without underscores, the newer one as we do.
    const { Address, PubKey, VotingPower } = ValidatorInfo;
    expect(fields(status.validator_info)).toEqual(
      fields({ address: Address, pub_key: PubKey, voting_power: VotingPower }),
    );
  });

  test("there is no file of a query that is gone", () => {
    const known = new Set([...QUERIES, ...ABSENT, ...ELSEWHERE].map(queryFile));
    expect(filesIn("query").filter((name) => !known.has(name))).toEqual([]);
  });
});

/** Names of the recorded chain's addresses, by the text in front of the data part. */
const named = (words: string): string =>
  words
    .split(" ")
    .filter((word) => !word.startsWith("-"))
    .map((word) => (word.startsWith("cosmosvaloper1") ? "VALIDATOR" : word.startsWith("cosmos1") ? "DELEGATOR" : word))
    .join("-");

describe("answers that a chain of the reference tool gave", () => {
  const node = new NodeDouble();
  const { queries, height, version } = stakingVectors;

  beforeAll(async () => {
    await node.start();
    node.methods.status = () => statusAnswer(Number(height), "simd-1", version);
    node.methods.abci_query = ({ path, data }) => {
      const found = queries.find(
        (each) => each.path === path && each.data.toLowerCase() === String(data).toLowerCase(),
      );
      const rest = { info: "", index: "0", key: null, proofOps: null, height, codespace: "" };
      if (found === undefined) return { response: { ...rest, code: 6, log: `${path} was not recorded`, value: null } };
      return { response: { ...rest, code: 0, log: "", value: found.value } };
    };
  });
  afterAll(() => node.stop());

  test.each(queries.map((each) => [each.words, each] as const))("svc query %s", async (words, { json }) => {
    const shown: string[] = [];
    for (const format of ["text", "json"]) {
      const argv = ["query", ...words.split(" "), "-o", format, "--node", node.address, "--profile", "cosmos"];
      const { code, out, err } = await runCli(argv);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      if (format === "json" && json !== undefined) expect(JSON.parse(out)).toEqual(json);
      shown.push(`$ svc query ${words} -o ${format}\n${out}`);
    }
    const name = `${named(words)}.txt`;
    await expect(shown.join("\n")).toMatchFileSnapshot(join(GOLDEN, "elsewhere", name));
  });

  test("there is no file of a query that is gone", () => {
    const known = new Set(queries.map(({ words }) => `${named(words)}.txt`));
    expect(filesIn("elsewhere").filter((name) => !known.has(name))).toEqual([]);
    expect(known.size).toBe(queries.length);
  });
});
