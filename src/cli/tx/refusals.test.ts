import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliChain } from "../../../test/cli/chain.ts";
import { decodeAddress, encodeAddress } from "../../wire/index.ts";

const WEB = resolve(import.meta.dirname, "../../../examples/web.yaml");
const FEES = ["-y", "-b", "block", "--fees", "5000utoken", "--gas", "400000"];

const chain = await cliChain("tenant", "provider", "stranger", "auditor");
const { tenant = "", provider = "", stranger = "" } = chain.addresses;
afterAll(() => chain.stop());

/** A deployment with an open order, one whose order is leased, and one that is closed. */
const dseqs = { open: "101", leased: "102", closed: "103" };
const ids = (dseq: string): string[] => ["--owner", tenant, "--dseq", dseq];

beforeAll(async () => {
  const file = join(chain.home, "provider.yaml");
  writeFileSync(file, "host: https://provider.example.com:8443\n");
  await chain.tx("provider", "create", file, "--from", "provider");
  await chain.tx("cert", "create", "client", "--from", "tenant");
  for (const dseq of Object.values(dseqs)) {
    await chain.tx("deployment", "create", WEB, "--dseq", dseq, "--from", "tenant");
  }
  await chain.tx("market", "bid", "create", ...ids(dseqs.leased), "--price", "1utoken", "--from", "provider");
  await chain.tx("market", "lease", "create", "--dseq", dseqs.leased, "--provider", provider, "--from", "tenant");
  await chain.tx("deployment", "close", "--dseq", dseqs.closed, "--from", "tenant");
});

const bid = (dseq: string, price = "1utoken", from = "provider"): string[] => {
  return ["market", "bid", "create", ...ids(dseq), "--price", price, "--from", from];
};
const lease = (verb: string, dseq: string): string[] => {
  return ["market", "lease", verb, "--dseq", dseq, "--provider", provider, "--from", "tenant"];
};

const VALIDATOR = encodeAddress(decodeAddress(provider), "valoper");

test.each<[what: string, words: string[], error: string, remedy: string]>([
  ["a bid that is too dear", bid(dseqs.open, "1000000utoken"), "market/4", "svc query market order list"],
  ["a bid of nobody known", bid(dseqs.open, "1utoken", "stranger"), "market/30", "svc tx provider create <file>"],
  ["a bid in another denomination", bid(dseqs.open, "1stake"), "market/22", "denomination of the order"],
  ["a bid of 0", bid(dseqs.open, "0utoken"), "market/19", "above zero"],
  ["a bid with a small deposit", [...bid(dseqs.open), "--deposit", "1utoken"], "market/28", "svc query market params"],
  ["a bid on what is leased", bid(dseqs.leased), "market/23", "somebody else"],
  ["a bid on what is closed", bid(dseqs.closed), "market/24", "svc query market order list"],
  ["a bid on nothing", bid("999"), "market/15", "svc query market order list"],
  ["a lease without a bid", lease("create", dseqs.open), "market/18", "svc query market bid list"],
  ["a lease twice", lease("create", dseqs.leased), "market/12", "--state open"],
  ["an end of no lease", lease("close", dseqs.open), "market/14", "svc query market lease list"],
  ["a deployment that is not there", ["deployment", "close", "--dseq", "999"], "deployment/4", "deployment list"],
  ["a deployment twice", ["deployment", "close", "--dseq", dseqs.closed], "deployment/5", "a closed one stays closed"],
  ["a group that is open already", ["deployment", "group", "start", "--dseq", dseqs.open], "deployment/16", "pause"],
  ["a group of no deployment", ["deployment", "group", "pause", "--dseq", "999"], "deployment/14", "deployment get"],
  [
    "an attribute never signed",
    ["audit", "attr", "delete", provider, "x", "--from", "auditor"],
    "audit/1",
    "audit list",
  ],
  [
    "attributes of nobody",
    ["audit", "attr", "create", stranger, "key", "b", "--from", "auditor"],
    "audit/5",
    "provider",
  ],
  ["no such validator", ["staking", "delegate", VALIDATOR, "1utoken"], "staking/4", "query staking validators"],
  ["a memo too long", ["bank", "send", tenant, provider, "1utoken", "--memo", "x".repeat(300)], "sdk/12", "--memo"],
])("%s: the remedy", async (_, words, error, remedy) => {
  const from = words.includes("--from") || words[0] === "bank" ? [] : ["--from", "tenant"];
  const { code, err } = await chain.run(["tx", ...words, ...from, ...FEES]);
  const [codespace, number] = error.split("/");
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`with code ${number} of ${codespace}: `) });
  expect(/\nHint: (.*)\n$/.exec(err)?.[1]).toContain(remedy);
});

test("a deposit below the least is refused before anything is signed", async () => {
  const { code, err } = await chain.run([
    "tx",
    "deployment",
    "create",
    WEB,
    "--deposit",
    "1utoken",
    "--from",
    "tenant",
    ...FEES,
  ]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("write at least 5000000utoken") });
});
