import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  fileSize,
  readFileBytes,
  readFilePart,
  readFileStart,
  readFileText,
  readWhole,
  readWholeText,
} from "./read.ts";

const dir = mkdtempSync(join(tmpdir(), "read-"));
afterAll(() => rmSync(dir, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};

describe("a file is read up to its limit", () => {
  test("to the last byte, and not one more", () => {
    const path = file("ten", "0123456789");
    expect(readFileText(path, { maxBytes: 10 })).toBe("0123456789");
    expect(() => readFileBytes(path, { maxBytes: 9 })).toThrow(`${path} is larger than 9 bytes`);
    expect(readFileStart(path, { maxBytes: 3 })).toHaveLength(4);
    expect(readFileText(file("empty", ""), { maxBytes: 0 })).toBe("");
    const large = file("large", "x".repeat(200_000));
    expect(readFileBytes(large, { maxBytes: 200_000 })).toHaveLength(200_000);
  });

  test("through a link; one that leads to itself is an error", () => {
    symlinkSync(file("target", "text"), join(dir, "link"));
    symlinkSync(join(dir, "loop"), join(dir, "loop"));
    expect(readFileText(join(dir, "link"), { maxBytes: 10 })).toBe("text");
    expect(() => readFileText(join(dir, "loop"), { maxBytes: 10 })).toThrow("ELOOP");
    expect(() => readFileText(join(dir, "none"), { maxBytes: 10 })).toThrow("ENOENT");
  });
});

test("a part of a file is read from its position, and ends where the file ends", () => {
  const path = file("parts", "0123456789");
  expect(fileSize(path)).toBe(10);
  const part = (start: number, length: number) => Buffer.from(readFilePart(path, { start, length })).toString();
  expect([part(0, 4), part(4, 4), part(8, 4), part(10, 4), part(11, 4)]).toEqual(["0123", "4567", "89", "", ""]);
  expect(() => fileSize(dir)).toThrow("is a directory, not a file");
  expect(() => readFilePart(dir, { start: 0, length: 1 })).toThrow("is a directory, not a file");
});

describe("what is not a file is refused", () => {
  test.each([
    ["/dev/zero", "a device"],
    ["/dev/tty", "a device"],
    [dir, "a directory"],
  ])("%s is %s", (path, kind) => {
    for (const pipes of [true, false]) {
      expect(() => readFileBytes(path, { maxBytes: 10, pipes })).toThrow(`${path} is ${kind}, not a file`);
    }
  });

  test("a socket, and a pipe unless pipes are welcome", async () => {
    const server = createServer().listen(join(dir, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    expect(() => readFileBytes(join(dir, "socket"), { maxBytes: 10 })).toThrow("is a socket, not a file");
    server.close();
    execFileSync("mkfifo", [join(dir, "fifo")]);
    expect(() => readFileBytes(join(dir, "fifo"), { maxBytes: 10 })).toThrow("is a pipe, not a file");
    const writer = spawn("sh", ["-c", `printf 'from a pipe' > ${join(dir, "fifo")}`]);
    expect(readFileText(join(dir, "fifo"), { maxBytes: 100, pipes: true })).toBe("from a pipe");
    writer.kill();
  });
});

/** Sources that read files of the program itself, or files of the system without a size; `self` opens the runtime and reads nothing. */
const WITHOUT_LIMIT = [
  "cli/self/installation.ts",
  "cli/code-cache.ts",
  "cli/provider/run/run.ts",
  "cli/localnet/processes/left.ts",
  "cli/localnet/processes/container-engine.ts",
];

test("no file of a user is read without a limit", () => {
  const src = join(import.meta.dirname, "../..");
  const found = ["cli", "keyring", "client", "sdl", "library", "crypto"].flatMap((folder) =>
    readdirSync(join(src, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => join(folder, name))
      .filter((name) =>
        /\breadFile(Sync)?\b[^;]*from "node:fs|\bopenSync\b/.test(readFileSync(join(src, name), "utf8")),
      ),
  );
  expect(found.filter((name) => !WITHOUT_LIMIT.includes(name))).toEqual([]);
});

test("a stream is read to its end, or up to the bytes that are too many", async () => {
  let given = 0;
  async function* parts() {
    for (const part of ["01", "234", "5"]) {
      given += 1;
      yield Buffer.from(part);
    }
  }
  expect(await readWholeText(parts(), 6, () => new Error("too large"))).toBe("012345");
  given = 0;
  await expect(readWhole(parts(), 4, () => new Error("too large"))).rejects.toThrow("too large");
  expect(given).toBe(2);
});
