import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { spawnSync } from "./support/bounded.ts";

const REPOSITORY = resolve(import.meta.dirname, "..");
const LOCK_MODULE = join(REPOSITORY, "tools", "lock.mjs");
/** The user that owns nothing; root may write everywhere, and cannot be refused anything. */
const NOBODY = 65_534;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-setup-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A process that takes the lock, says so and releases it. */
function locker(path: string): { readonly child: ChildProcess; readonly said: () => string } {
  const script = `import { takeLock } from ${JSON.stringify(LOCK_MODULE)};
    const release = takeLock(${JSON.stringify(path)}, (pid) => console.log("waits for " + pid));
    console.log("has it");
    release();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  return { child, said: () => said };
}

describe("the command of a checkout", () => {
  /** One whose build is a program that says a word. */
  function checkout(): string {
    for (const name of ["src", "proto", "tools", "dist"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "package-lock.json"), "");
    writeFileSync(join(root, "dist", "svc.cjs"), 'process.stdout.write("ran\\n");');
    writeFileSync(join(root, "dist", ".built"), "");
    cpSync(join(REPOSITORY, "svc"), join(root, "svc"));
    return join(root, "svc");
  }

  const shell = (script: string) => spawnSync("sh", ["-c", script], { encoding: "utf8" });

  test("fails where standard output is closed, and nowhere else", () => {
    const svc = checkout();
    const closed = shell(`${svc} version >&-`);
    expect([closed.status, closed.stdout]).toEqual([1, ""]);
    expect(closed.stderr).toBe(
      "Error: cannot write to standard output: it is closed\nHint: leave out >&-, or send it to a file\n",
    );
    expect(shell(`${svc} version >&- 2>&-`).status).toBe(1);
    for (const given of ["", "<&-", "2>&-", ">/dev/null"])
      expect([given, shell(`${svc} ${given}`).status]).toEqual([given, 0]);
    expect(spawnSync(svc, { stdio: "ignore" }).status).toBe(0);
    expect(shell(`${svc} <&- 2>&-`).stdout).toBe("ran\n");
  });

  describe("that is built", () => {
    const SOURCES = ["src/a.ts", "src/room/b.ts", "package.json", "package-lock.json"];
    /** A build time later than that of all files, however long the tests before take. */
    const later = new Date(Date.now() + 86_400_000);
    const touch = (path: string, time: Date) => utimesSync(join(root, path), time, time);

    /** Its set-up only says that it ran. */
    function built(listed: boolean): string {
      const svc = checkout();
      mkdirSync(join(root, "src", "room"));
      for (const path of [...SOURCES, "src/a.test.ts"]) writeFileSync(join(root, path), "");
      writeFileSync(join(root, "tools", "setup.mjs"), 'process.stdout.write("built, ");');
      if (listed) writeFileSync(join(root, "dist", ".inputs"), SOURCES.join("\0"));
      touch("dist/.built", later);
      return svc;
    }

    const ran = (svc: string) => spawnSync(svc, { encoding: "utf8", cwd: tmpdir() });
    const RAN = { status: 0, stdout: "ran\n", stderr: "" };
    const BUILT = { status: 0, stdout: "built, ran\n", stderr: "" };

    test.each([
      ["with the list of what it read", true],
      ["without it", false],
    ])("builds again after a change of what the build reads, %s", (_, listed) => {
      const svc = built(listed);
      expect(ran(svc)).toMatchObject(RAN);
      for (const path of SOURCES) {
        touch(path, new Date(later.getTime() + 60_000));
        expect(ran(svc)).toMatchObject(BUILT);
        touch(path, new Date());
      }
      expect(ran(svc)).toMatchObject(RAN);
    });

    test("builds again when a file is gone that the build read", () => {
      const svc = built(true);
      rmSync(join(root, "src/room/b.ts"));
      touch("src/room", new Date(later.getTime() + 60_000));
      expect(ran(svc)).toMatchObject(BUILT);
    });

    test("does not build again after a change of a test", () => {
      const svc = built(true);
      touch("src/a.test.ts", new Date(later.getTime() + 60_000));
      expect(ran(svc)).toMatchObject(RAN);
    });

    test("is found through links, with any CDPATH", () => {
      const svc = built(true);
      mkdirSync(join(root, "bin"));
      symlinkSync("../svc", join(root, "bin", "svc"));
      touch("src/a.ts", new Date(later.getTime() + 60_000));
      const env = { ...process.env, CDPATH: "/usr" };
      expect(spawnSync(join(root, "bin", "svc"), { encoding: "utf8", env })).toMatchObject(BUILT);
      expect(spawnSync("sh", [svc], { encoding: "utf8", cwd: root, env })).toMatchObject(BUILT);
      expect(spawnSync("sh", ["svc"], { encoding: "utf8", cwd: root, env })).toMatchObject(BUILT);
    });
  });
});

describe("the lock of a checkout", () => {
  test("is waited for while its process lives", async () => {
    const path = join(root, "lock");
    writeFileSync(path, `${process.pid}\n`);
    const { child, said } = locker(path);
    while (!said().includes("waits")) await once(child.stdout ?? child, "data");
    expect(said()).toBe(`waits for ${process.pid}\n`);
    rmSync(path);
    expect(await once(child, "close")).toEqual([0, null]);
    expect(said()).toContain("has it");
    expect(existsSync(path)).toBe(false);
  });

  test("is taken over from a dead process", async () => {
    const path = join(root, "lock");
    const dead = spawnSync(process.execPath, ["--version"]).pid;
    writeFileSync(path, `${dead}\n`);
    const { child, said } = locker(path);
    expect(await once(child, "close")).toEqual([0, null]);
    expect(said()).toBe("has it\n");
  });

  test("is taken over from a link to nothing", async () => {
    const path = join(root, "lock");
    symlinkSync(join(root, "gone"), path);
    lutimesSync(path, 0, 0);
    const { child, said } = locker(path);
    expect(await once(child, "close")).toEqual([0, null]);
    expect(said()).toBe("has it\n");
  });

  test("goes to one after the other of many", async () => {
    const path = join(root, "lock");
    const dead = spawnSync(process.execPath, ["--version"]).pid;
    writeFileSync(path, `${dead}\n`);
    const all = Array.from({ length: 4 }, () => locker(path));
    for (const { child } of all) if (child.exitCode === null) expect(await once(child, "close")).toEqual([0, null]);
    expect(all.map(({ said }) => said().includes("has it"))).toEqual([true, true, true, true]);
    expect(existsSync(path)).toBe(false);
  });
});

describe("./svc in a checkout that cannot be set up", () => {
  /** As much of a checkout as its set-up looks at before it does anything. */
  function checkout(): string {
    const path = join(root, "checkout");
    cpSync(join(REPOSITORY, "tools"), join(path, "tools"), { recursive: true });
    for (const name of ["svc", "package.json", "package-lock.json"]) cpSync(join(REPOSITORY, name), join(path, name));
    for (const name of ["src", "proto"]) mkdirSync(join(path, name));
    chmodSync(root, 0o755);
    return path;
  }

  const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const run = (path: string): ReturnType<typeof spawnSync> =>
    spawnSync(join(path, "svc"), ["version"], { encoding: "utf8", ...asNobody });

  test("says that it may not write there", () => {
    const path = checkout();
    chmodSync(path, 0o555);
    const { status, stdout, stderr } = run(path);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr:
        `svc: cannot write in ${path}: permission denied. ` +
        "Run it as the owner of the checkout, or use a copy where you may write\n",
    });
    chmodSync(path, 0o755);
  });

  test("says what is in the way of the build", () => {
    const path = checkout();
    chmodSync(path, 0o777);
    writeFileSync(join(path, "dist"), "");
    const { status, stderr } = run(path);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `svc: ${join(path, "dist")} is not a directory: remove it and run this again\n`,
    });
  });

  test("says that it may not write the build", () => {
    const path = checkout();
    chmodSync(path, 0o777);
    mkdirSync(join(path, "dist"), { mode: 0o555 });
    const { status, stderr } = run(path);
    expect(status).toBe(1);
    expect(stderr).toContain(`svc: cannot write in ${join(path, "dist")}: permission denied.`);
  });
});
