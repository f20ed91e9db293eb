import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { createApp } from "../../app/index.ts";
import { homeValidatorKey, readGenesisText, validateGenesis } from "../../node/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { toBase64 } from "../../util/index.ts";
import {
  defaultLocalnetHome,
  homeFlags,
  isKeptHome,
  isWholeHome,
  lockLocalnet,
  makeHome,
  memberHome,
  readState,
  removeHome,
  validatorsOf,
  writeClientSettings,
  writeState,
} from "./home.ts";
import { Steps } from "./steps.ts";

test.each([
  [defaultLocalnetHome(0), 0, ""],
  [defaultLocalnetHome(100), 100, " --port-offset 100"],
  ["/srv/a net", 100, " --home '/srv/a net'"],
])("the localnet in %s with offset %i is found with %j", (home, offset, flags) => {
  expect(homeFlags(home, offset)).toBe(flags);
});

test("a home is complete once it was fully made, and only a complete one is removed", async () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-localnet-"));
  removeHome(dir);
  const home = join(dir, "net");
  expect(isWholeHome(home)).toBe(false);
  await makeHome(home, 1000);
  expect(isWholeHome(home)).toBe(true);
  writeFileSync(join(home, "localnet.json"), "{}\n");
  expect(isWholeHome(home)).toBe(false);
  removeHome(home);
  expect(existsSync(home)).toBe(false);
  writeFileSync(join(dir, "mine.txt"), "");
  expect(() => removeHome(dir)).toThrow(`${dir} exists and was not made by svc localnet`);
  rmSync(dir, { recursive: true });
});

test("the homes of several validators have one genesis file, in which all have the same power", async () => {
  const home = join(mkdtempSync(join(tmpdir(), "svc-localnet-")), "net");
  await makeHome(home, 1000, 3);
  expect(validatorsOf(home)).toBe(3);
  const texts = [0, 1, 2].map((i) => readGenesisText(memberHome(home, "node", i)));
  expect(new Set(texts).size).toBe(1);
  const genesis = validateGenesis(texts[0] ?? "");
  const { validators } = createApp({ database: memoryDatabase() }).initChain(genesis);
  const sorted = (keys: readonly { readonly pubKey: Uint8Array }[]) => keys.map((key) => toBase64(key.pubKey)).sort();
  expect(sorted(validators)).toEqual(sorted(genesis.validators));
  expect(new Set(validators.map(({ power }) => power)).size).toBe(1);
  const own = [0, 1, 2].map((i) => homeValidatorKey(memberHome(home, "node", i)));
  expect(sorted(own.map((pubKey) => ({ pubKey })))).toEqual(sorted(genesis.validators));
  rmSync(dirname(home), { recursive: true });
});

test("a home whose marker cannot be read is not removed", () => {
  const home = mkdtempSync(join(tmpdir(), "svc-localnet-"));
  mkdirSync(join(home, "localnet.json"));
  expect(() => isKeptHome(home)).toThrow("is a directory");
  rmSync(home, { recursive: true });
});

test("commands with the home find its keys and its node by themselves", async () => {
  const home = join(mkdtempSync(join(tmpdir(), "svc-localnet-")), "net");
  await makeHome(home, 1000);
  for (const node of ["http://127.0.0.1:26657", "http://127.0.0.1:26757"]) {
    writeClientSettings(home, node);
    const { out } = await runCli(["config", "view", "--home", home]);
    expect(out).toContain(`node = "${node}"`);
  }
  const listed = await runCli(["keys", "list", "--home", home, "-o", "json"]);
  expect(JSON.parse(listed.out).map(({ name }: { name: string }) => name)).toEqual([
    "alice",
    "bob",
    "faucet",
    "provider",
    "validator",
  ]);
  rmSync(dirname(home), { recursive: true });
});

test("the chain of a home has a bonded validator, with the key of its node", async () => {
  const home = join(mkdtempSync(join(tmpdir(), "svc-localnet-")), "net");
  await makeHome(home, 1000);
  const { validators, appState } = validateGenesis(readGenesisText(home));
  expect(appState.staking).toMatchObject({
    validators: [
      {
        consensus_pubkey: { key: toBase64(validators[0]?.pubKey ?? new Uint8Array()) },
        status: "BOND_STATUS_UNBONDED",
        tokens: "1000000000000",
        description: { moniker: "localnet" },
      },
    ],
    delegations: [{ shares: "1000000000000.000000000000000000" }],
  });
  expect(appState.gov).toMatchObject({
    params: { voting_period: "60s", expedited_voting_period: "30s", max_deposit_period: "300s" },
  });
  const app = createApp({ database: memoryDatabase(), checkInvariants: true });
  const begun = app.initChain({ ...validateGenesis(readGenesisText(home)) });
  expect(begun.validators.map(({ pubKey, power }) => [toBase64(pubKey), power])).toEqual([
    [toBase64(validators[0]?.pubKey ?? new Uint8Array()), 1_000_000n],
  ]);
  rmSync(dirname(home), { recursive: true });
});

test("a home that was kept once stays kept", async () => {
  const home = mkdtempSync(join(tmpdir(), "svc-localnet-"));
  expect(isKeptHome(home)).toBe(false);
  for (const kept of [false, true]) {
    writeState(home, { chainId: "c", rpc: "r", netUrl: "n", kept, validators: 4 });
    expect(isKeptHome(home)).toBe(kept);
    expect(readState(home, 0).kept).toBe(kept);
    expect(validatorsOf(home)).toBe(4);
  }
  rmSync(home, { recursive: true });
});

test("where there is none, the remedy starts one in the same place", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-localnet-"));
  const hint = `start one with: svc localnet --home ${dir}, or name the home of a running one with --home`;
  expect(() => readState(dir, 0)).toThrow(expect.objectContaining({ hint }));
  rmSync(dir, { recursive: true });
});

test("the summary's faucet command reaches this localnet", () => {
  const lines: string[] = [];
  const steps = new Steps({ json: false, out: (line) => lines.push(line), err: () => {} });
  steps.summary({
    rpc: "r",
    rest: "r",
    grpc: "g",
    net_url: "n",
    home: "/srv/net",
    ca: "/srv/net/authority/ca.crt",
    homeFlags: " --home /srv/net",
    deployments: [],
    validators: [],
  });
  expect(lines.join("\n")).toContain("svc faucet <address> 100000000utoken --home /srv/net ");
  expect(lines.join("\n")).toContain("curl --cacert /srv/net/authority/ca.crt https://");
});

test("a home is one localnet's at a time", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-localnet-"));
  const lock = lockLocalnet("/srv/net", dir);
  expect(() => lockLocalnet("/srv/net", dir)).toThrow("a localnet is already running in /srv/net");
  lock.release();
  lockLocalnet("/srv/net", dir).release();
  rmSync(dir, { recursive: true });
});
