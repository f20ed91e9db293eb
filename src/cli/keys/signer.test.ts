import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";

const root = mkdtempSync(join(tmpdir(), "only-key-"));
afterAll(() => rmSync(root, { recursive: true }));

const svc = (home: string, argv: readonly string[]) =>
  runCli(argv, { env: { SVC_HOME: join(root, home), SVC_KEYRING_BACKEND: "test", SVC_NODE: "tcp://127.0.0.1:1" } });

const NUMBERS = ["--offline", "--chain-id", "x-1", "-a", "1", "-s", "1"];
let [address, file] = ["", ""];

beforeAll(async () => {
  for (const [home, names] of Object.entries({ one: ["alice"], two: ["alice", "bob"] })) {
    for (const name of names) await svc(home, ["keys", "add", name]);
  }
  const pubkey = (await svc("two", ["keys", "show", "bob", "-p"])).out.trim();
  await svc("one", ["keys", "add", "watched", "--pubkey", pubkey]);
  address = (await svc("one", ["keys", "show", "alice", "-a"])).out.trim();
  const { out } = await svc("one", ["tx", "bank", "send", address, address, "1utoken", "--generate-only"]);
  file = join(root, "tx.json");
  writeFileSync(file, out);
});

describe("without --from", () => {
  test("the only key that can sign does, also where other keys are watched", async () => {
    const { code, out, err } = await svc("one", ["tx", "sign", file, ...NUMBERS]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe((await svc("one", ["tx", "sign", file, "--from", "alice", ...NUMBERS])).out);
    const vote = await svc("one", ["tx", "gov", "vote", "1", "yes", "--dry-run"]);
    expect(vote.err).toContain("cannot reach the node");
    const run = await svc("one", ["provider", "run"]);
    expect(run.err).toContain("svc tx cert create server");
  });

  test("two keys are listed, and nothing is signed", async () => {
    for (const argv of [
      ["tx", "sign", file, ...NUMBERS],
      ["tx", "gov", "vote", "1", "yes"],
      ["provider", "run"],
    ]) {
      const { code, out, err } = await svc("two", argv);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain("required flag --from is not set (or SVC_FROM)\nHint: the keyring has alice, bob\n");
    }
  });

  test("an empty keyring says where it is", async () => {
    const { code, err } = await svc("none", ["tx", "gov", "vote", "1", "yes"]);
    expect(code).toBe(2);
    expect(err).toContain(`required flag --from is not set (or SVC_FROM)\nHint: the keyring in ${join(root, "none")}`);
    expect(err).toContain("is empty: make a key with svc keys add");
  });

  test("what is only printed needs an address, and opens no keyring", async () => {
    const { code, err } = await svc("one", ["tx", "gov", "vote", "1", "yes", "--generate-only"]);
    expect(code).toBe(2);
    expect(err).toContain("required flag --from is not set");
  });
});

test("a flag or an argument that is empty is not a choice of the only key", async () => {
  for (const argv of [
    ["tx", "gov", "vote", "1", "yes", "--from", ""],
    ["tx", "bank", "send", "", address, "1utoken"],
    ["tx", "sign", file, "--from=", ...NUMBERS],
  ]) {
    const { code, out, err } = await svc("one", argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("required flag --from is not set");
  }
});
