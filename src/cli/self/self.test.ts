import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { ownedFolder } from "../../../test/support/abandoned.ts";
import { changeByte, TestReleases, treeOf } from "../../../test/support/release.ts";
import { isOlder } from "../../util/servers/index.ts";
import { type NetServer, startNetServer } from "../localnet/processes/net-server.ts";
import { type Installation, installVersion, ownInstallation, rollBack } from "./installation.ts";

const folder = ownedFolder("svc-self-");
const releases = new TestReleases(join(folder, "net"));
let server: NetServer;

beforeAll(async () => {
  for (const version of ["v0.0.0", "v1.9.0", "v1.10.0"]) releases.addTrial(version);
  const files = { version: "", chainId: "svc-1", rpcNodes: [], trustedBlock: () => undefined, chainInfo: "{}" };
  server = await startNetServer(0, { ...files, releases: releases.folder });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** A store as install.sh leaves it. */
function installed(name: string, version = "v1.0.0"): Installation {
  const store = join(folder, name);
  mkdirSync(join(store, version, "lib"), { recursive: true });
  writeFileSync(join(store, version, "lib", "release.pub"), releases.publicKey);
  symlinkSync(version, join(store, "current"));
  return ownInstallation(join(store, version));
}

test.each([
  ["v1.9.0", "v1.10.0", true],
  ["v1.10.0", "v1.9.0", false],
  ["v1.2.3", "v1.2.3", false],
  ["v0.9.9", "v1.0.0", true],
])("%s before %s: %j", (one, other, older) => {
  expect(isOlder(one, other)).toBe(older);
});

describe("version --check", () => {
  test("compares with the network that is named", async () => {
    const { code, out } = await runCli(["version", "--check", "-o", "json"], { env: { SVC_NET: `${server.url}/` } });
    expect({ code, told: JSON.parse(out) }).toEqual({
      code: 0,
      told: { version: "v0.0.0", latest: "v1.10.0", newer: true },
    });
  });

  test.each([
    ["", [], /the network is not named\nHint: set SVC_NET/],
    ["", ["--net", "mine"], /"mine": it is no address of a network/],
    ["", ["--net", "http://127.0.0.1:1"], /version.txt: .*: a file of the network cannot be read/],
  ])("%s%j is refused", async (_, words, says) => {
    const { code, out, err } = await runCli(["version", "--check", ...words]);
    expect({ code, out, err }).toEqual({ code: 1, out: "", err: expect.stringMatching(says) });
  });

  test("tells a network whose answer breaks off", async () => {
    const cut = createServer((_, response) => {
      response.writeHead(200, { "content-length": 9 });
      response.write("v1.", () => response.destroy());
    });
    await once(cut.listen(0, "127.0.0.1"), "listening");
    const address = cut.address();
    const net = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    const { code, err } = await runCli(["version", "--check", "--net", net]);
    cut.close();
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/version.txt: .*: a file of the network cannot be read/),
    });
  });

  test("refuses a network that publishes a page in place of a version", async () => {
    writeFileSync(join(releases.folder, "version.txt"), `<html>${"x".repeat(500)}`);
    const { code, err } = await runCli(["version", "--check", "--net", server.url]);
    releases.publish("v1.10.0");
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^Error: "<html>x{1,100}": it is no version\n/),
    });
  });
});

describe("an installation", () => {
  test("gets a version, returns to the one before, and keeps no third", async () => {
    const place = installed("kept");
    await installVersion(place, server.url, "v1.9.0");
    const next = ownInstallation(join(place.store, "v1.0.0"));
    expect(next.version).toBe("v1.9.0");
    await installVersion(next, server.url, "v1.10.0");
    const names = ["v1.9.0", "v1.10.0", "current -> v1.10.0", "previous -> v1.9.0", "net"];
    const expected = names.map((name) => join(place.store, name)).sort();
    expect(treeOf(place.store).filter((line) => line.split("/").length === place.store.split("/").length + 1)).toEqual(
      expected,
    );
    expect(await rollBack(place)).toBe("v1.9.0");
    expect(ownInstallation(join(place.store, "v1.9.0")).version).toBe("v1.9.0");
  });

  test.each([
    ["an archive with another byte", () => changeByte(releases.archiveOf("v1.9.0")), /not the file that was signed/],
    [
      "a list with another byte",
      () => changeByte(releases.pathOf("v1.9.0", "SHA256SUMS")),
      /signature of the release is wrong/,
    ],
    [
      "a program that tells another version",
      () => releases.addTrial("v1.9.0", "v1.8.0"),
      /v1.9.0: the version does not run here/,
    ],
  ])("refuses %s, and stays unchanged", async (_, change, says) => {
    const place = installed(`refused-${says.source.length}`);
    change();
    const before = treeOf(place.store);
    await expect(installVersion(place, server.url, "v1.9.0")).rejects.toThrow(says);
    expect(treeOf(place.store)).toEqual(before);
    releases.addTrial("v1.9.0");
  });

  test("has nothing to return to at first", async () => {
    await expect(rollBack(installed("first"))).rejects.toThrow(/there is no version to return to/);
  });

  test("changes once at a time, and is rid of what a killed update left", async () => {
    const place = installed("busy");
    await installVersion(place, server.url, "v1.9.0");
    const [other, dead] = [process.ppid, 999_999_999].map((pid) => join(place.store, `.incoming.${pid}`));
    for (const each of [other, dead]) mkdirSync(each ?? "");
    const before = treeOf(place.store);
    await expect(installVersion(place, server.url, "v1.10.0")).rejects.toThrow(/another update goes on/);
    await expect(rollBack(place)).rejects.toThrow(/another update goes on/);
    expect(before).toEqual(expect.arrayContaining([...treeOf(place.store)]));
    rmSync(other ?? "", { recursive: true });
    await installVersion(place, server.url, "v1.10.0");
    expect(readdirSync(place.store).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("keeps a version that a process of any user runs", async () => {
    const place = installed("running");
    const program = join(place.store, "v1.0.0", "lib", "node");
    copyFileSync("/bin/sleep", program);
    const running = spawn(program, ["600"]);
    for (const version of ["v1.9.0", "v1.10.0"]) await installVersion(place, server.url, version);
    expect(existsSync(program)).toBe(true);
    running.kill("SIGKILL");
    await once(running, "exit");
    await installVersion(place, server.url, "v1.9.0");
    expect(existsSync(program)).toBe(false);
  });

  test("is no checkout", async () => {
    for (const words of ["update", "rollback"]) {
      const { code, err } = await runCli(["self", words, "--output", "json"]);
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringContaining("this svc was not put in place by install.sh"),
      });
    }
  });
});
