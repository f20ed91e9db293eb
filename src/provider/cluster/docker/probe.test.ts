import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PROBE_ANSWER, PROBE_MOUNT } from "../contract/index.ts";
import { probeProgram } from "./probe.ts";

const SOURCES = join(import.meta.dirname, "../../../../tools/probe");

it("is a program for each architecture, with the answer and the file of the trial in it", () => {
  for (const architecture of ["amd64", "arm64"]) {
    const program = probeProgram(architecture);
    expect(program?.toString("latin1")).toContain(`\r\n\r\n${PROBE_ANSWER}`);
    expect(program?.toString("latin1")).toContain(`${PROBE_MOUNT}/probe\0`);
    expect(readFileSync(join(SOURCES, `${architecture}.s`), "utf8")).toContain(`${PROBE_MOUNT}/probe`);
  }
  expect(probeProgram("riscv64")).toBeUndefined();
});

it.skipIf(process.arch !== "x64" || !existsSync("/usr/bin/as") || !existsSync("/usr/bin/objcopy"))(
  "is what its source says",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-probe-"));
    const [object, code] = [join(folder, "o"), join(folder, "code")];
    spawnSync("as", [join(SOURCES, "amd64.s"), "-o", object]);
    spawnSync("objcopy", ["-O", "binary", "-j", ".text", object, code]);
    const assembled = readFileSync(code);
    rmSync(folder, { recursive: true });
    expect(probeProgram("amd64")?.subarray(120).equals(assembled)).toBe(true);
  },
);
