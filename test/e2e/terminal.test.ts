import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildOnce, MAIN } from "../support/build.ts";
import { Fixture, svcOk, waitFor } from "../support/index.ts";
import { environment } from "../support/run-svc.ts";

/** A shell's exit code for a program that SIGHUP ended. */
const HUNG_UP = 129;

describe("a terminal that is closed", () => {
  const fixture = new Fixture();
  afterAll(() => fixture.close());

  it("ends a node in order, and by the signal that says so", async () => {
    await buildOnce();
    const home = fixture.tempHome("node");
    await svcOk(["init", "node", "--home", home]);
    const code = join(fixture.folder, "code");
    const start = `${process.execPath} ${MAIN} start --home ${home} --rpc.laddr tcp://127.0.0.1:0`;
    // The shell outlives its terminal to tell how the node ended.
    const shell = `trap : HUP; ${start}; echo $? > ${code}`;
    const terminal: ChildProcess = spawn("script", ["-qec", shell, "/dev/null"], {
      env: { ...environment({}), SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let screen = "";
    terminal.stdout?.on("data", (chunk) => (screen += chunk));
    await waitFor(() => screen.includes("node ready"), "the node");
    terminal.kill("SIGKILL");
    await once(terminal, "close");
    await waitFor(() => existsSync(code) && readFileSync(code, "utf8") !== "", "the end of the node");
    expect(Number(readFileSync(code, "utf8"))).toBe(HUNG_UP);
    // It is free for the next one.
    expect(await svcOk(["export", "--home", home])).toContain("app_state");
  });
});
