import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { nodeConfig, startNode } from "../../node/index.ts";
import { createLogger } from "../../util/index.ts";

const root = mkdtempSync(join(tmpdir(), "svc-cli-snapshots-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const [source, target] = [join(root, "source"), join(root, "target")];
const svc = (home: string, ...words: string[]) => runCli([...words, "--home", home]);

/** A chain of 25 blocks whose node ended by itself; it took snapshots. */
async function runChain(): Promise<void> {
  await svc(source, "init", "mine", "--chain-id", "snap-1");
  const config = nodeConfig({
    "block-interval": "100ms",
    "halt-height": "25",
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "state-sync.snapshot-interval": "5",
    "state-sync.snapshot-keep-recent": "0",
  });
  const node = await startNode({
    home: source,
    config,
    logger: createLogger({ level: "fatal", format: "plain" }),
    version: "v0",
  });
  expect((await node.ended).error).toBeUndefined();
  await node.stop();
}

describe("the commands for snapshots", () => {
  test("take one, show it, move it to another home, restore it there and remove it", async () => {
    await runChain();
    const taken = await svc(source, "snapshots", "export", "--height", "24", "-o", "json");
    expect(taken).toMatchObject({ code: 0 });
    const snapshot = { height: "24", format: 2, chunks: 1 };
    expect(JSON.parse(taken.out)).toEqual(snapshot);
    const listed = await svc(source, "snapshots", "list");
    expect(listed.out.split("\n")[0]).toBe("height: 24 format: 2 chunks: 1");
    expect(listed.out).toContain("height: 5 format: 2 chunks: 1\n");
    const inJson = JSON.parse((await svc(source, "snapshots", "list", "-o", "json")).out);
    expect(inJson.snapshots[0]).toEqual(snapshot);
    const archive = join(root, "state.tar.gz");
    expect(await svc(source, "snapshots", "dump", "24", "2", "-o", archive)).toMatchObject({ code: 0 });
    expect(existsSync(archive)).toBe(true);
    const exported = JSON.parse((await svc(source, "export")).out);

    await svc(target, "init", "mine", "--chain-id", "snap-1");
    for (const name of ["genesis.json", "priv_validator_key.json"])
      copyFileSync(join(source, "config", name), join(target, "config", name));
    const loaded = await svc(target, "snapshots", "load", archive, "-o", "json");
    expect(loaded).toMatchObject({ code: 0 });
    expect(JSON.parse(loaded.out)).toEqual(snapshot);
    const lying = ["--trust-height", "25", "--trust-hash", "AB".repeat(32)];
    const refused = await svc(target, "snapshots", "restore", "24", "2", ...lying);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("trusted hash of block 25");
    const restored = await svc(target, "snapshots", "restore", "24", "2", "-o", "json");
    expect(JSON.parse(restored.out)).toEqual({
      height: "24",
      last_height: "25",
      app_hash: expect.stringMatching(/^[0-9A-F]{64}$/),
    });
    expect(JSON.parse((await svc(target, "export")).out)).toEqual(exported);
    expect(await svc(target, "snapshots", "delete", "24", "2")).toMatchObject({ code: 0 });
    expect((await svc(target, "snapshots", "list")).out).toBe("");
    expect(JSON.parse((await svc(source, "rollback", "-o", "json")).out)).toMatchObject({ height: "24" });
  }, 60_000);

  test.each([
    [["restore", "24"], 2, "format"],
    [["restore", "0", "2"], 2, "0 is not a height"],
    [["restore", "24", "one"], 2, "one is not a format"],
    [["restore", "24", "2", "--trust-height", "3"], 2, "--trust-height and --trust-hash must be used together"],
    [["restore", "24", "2", "--trust-hash", "AB", "--trust-height", "3"], 2, "64 hexadecimal digits"],
    [["delete", "24", "1"], 1, "the snapshot does not exist"],
    [["dump", "99999999999999999999", "2"], 2, "is not a height"],
    [["load", "none.tar.gz"], 1, "cannot read the archive of a snapshot: ENOENT: no such file or directory"],
    [["load", "none.tar.gz"], 1, "Hint: give the path of a file that snapshots dump wrote"],
    [["load", "."], 1, "cannot read the archive of a snapshot: . is a directory"],
  ])("%s are refused", async (words, code, sentence) => {
    const home = join(root, "empty");
    await svc(home, "init", "mine", "--chain-id", "snap-1");
    const done = await svc(home, "snapshots", ...words);
    expect(done.code).toBe(code);
    expect(done.err).toContain(sentence);
  });

  test("load refuses a file that is no archive", async () => {
    const path = join(root, "text.tar.gz");
    writeFileSync(path, "no archive");
    const done = await svc(join(root, "empty"), "snapshots", "load", path);
    expect(done.code).toBe(1);
    expect(done.err).toContain("the snapshot cannot be restored");
  });
});
