import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarOf } from "../../../../../../test/support/images/registry.ts";
import { Weigher } from "./weigher.ts";

const MEMBER = 16 << 20;
const GIB = 1 << 30;

let folder: string;
let weigher: Weigher;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-weigher-"));
  const outfile = join(folder, "weigher.cjs");
  await build({
    entryPoints: [join(import.meta.dirname, "process.ts")],
    outfile,
    bundle: true,
    platform: "node",
    logLevel: "error",
  });
  weigher = new Weigher({ command: process.execPath, args: [outfile] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A layer of 16 MiB or so that unpacks to 16 GiB of zeros: one file. */
function bomb(): string {
  const header = Buffer.alloc(512);
  header.write("zeros");
  header.write("0000644\0", 100);
  header[124] = 0x80;
  header.writeBigUInt64BE(16n << 30n, 128);
  header.write("        0", 148);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const zeros = gzipSync(Buffer.alloc(MEMBER));
  const file = join(folder, "bomb");
  writeFileSync(file, Buffer.concat([gzipSync(header), ...Array<Buffer>((16 * GIB) / MEMBER).fill(zeros)]));
  return file;
}

function children(): number[] {
  const threads = readdirSync("/proc/self/task");
  return threads.flatMap((thread) => {
    const text = readFileSync(`/proc/self/task/${thread}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  });
}

const never = () => new AbortController().signal;

describe("a layer", () => {
  it("is weighed by a process of low priority, and no further than its lease may have", async () => {
    const file = bomb();
    const before = process.cpuUsage();
    const known = new Set(children());
    const weight = weigher.weigh(file, { lease: "a", most: 256n << 20n, signal: never() });
    await expect
      .poll(() =>
        children()
          .filter((pid) => !known.has(pid))
          .map((pid) => getPriority(pid)),
      )
      .toEqual([10]);
    expect(await weight).toEqual({ kind: "over", bytes: 256n << 20n });
    await expect.poll(() => children().filter((pid) => !known.has(pid))).toEqual([]);
    // Unpacking alone takes a second.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  }, 60_000);

  it("that is right gives its digest and size, and one that is none says why", async () => {
    const file = join(folder, "layer");
    writeFileSync(file, gzipSync(await tarOf({ page: "hello" })));
    const options = { lease: "a", most: 1n << 20n, signal: never() };
    expect(await weigher.weigh(file, options)).toEqual(await new Weigher(undefined).weigh(file, options));
    writeFileSync(file, "no tar");
    expect(await weigher.weigh(file, options)).toEqual({ kind: "fault", text: "it breaks off" });
    await expect(weigher.weigh(join(folder, "none"), options)).rejects.toThrow(/ENOENT/);
  });

  it("is weighed no longer when its lease ends", async () => {
    const known = new Set(children());
    const ends = new AbortController();
    const weight = weigher.weigh(bomb(), { lease: "a", most: 16n << 30n, signal: ends.signal });
    const refused = expect(weight).rejects.toThrow(/abort/i);
    await expect.poll(() => children().filter((pid) => !known.has(pid))).toHaveLength(1);
    ends.abort();
    await refused;
    await expect.poll(() => children().filter((pid) => !known.has(pid))).toEqual([]);
  });

  it("waits for another of its lease, and for no other's", async () => {
    const log = join(folder, "log");
    writeFileSync(log, "");
    const script = `process.once("message", ({ file }) => {
      require("node:fs").appendFileSync(${JSON.stringify(log)}, file + "+ ");
      const wait = setInterval(() => {
        const begun = require("node:fs").readFileSync(${JSON.stringify(log)}, "utf8");
        if (!/[xyz]/.test(begun) || !begun.includes("b")) return;
        clearInterval(wait);
        require("node:fs").appendFileSync(${JSON.stringify(log)}, file + "- ");
        process.send({ kind: "over", bytes: "1" }, () => process.disconnect());
      }, 10);
    })`;
    const fake = new Weigher({ command: process.execPath, args: ["-e", script] });
    const weigh = (lease: string, file: string) => fake.weigh(file, { lease, most: 1n, signal: never() });
    await Promise.all([weigh("a", "x"), weigh("a", "y"), weigh("a", "z"), weigh("b", "b")]);
    const steps = readFileSync(log, "utf8").replaceAll(/b[+-] /g, "");
    expect(steps.trim()).toBe("x+ x- y+ y- z+ z-");
  });
});
