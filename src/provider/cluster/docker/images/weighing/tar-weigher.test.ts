import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Headers, pack } from "tar-stream";
import { expect, it, onTestFinished } from "vitest";
import { tarOf } from "../../../../../../test/support/images/registry.ts";
import { BYTES_PER_ENTRY, MAX_EXTENSION } from "../limits.ts";
import { TarWeigher } from "./tar-weigher.ts";

const END = Buffer.alloc(1024);

/** A header with a checksum that is right, whatever it says. */
function header(fields: { readonly type: string; readonly size?: string; readonly name?: string }): Buffer {
  const block = Buffer.alloc(512);
  block.write(fields.name ?? "file");
  block.write("0000644\0", 100);
  block.write(fields.size ?? "00000000000\0", 124, "latin1");
  block.write("        ", 148);
  block.write(fields.type, 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

const octal = (size: number) => `${size.toString(8).padStart(11, "0")}\0`;

/** An extension with these records, and its file. */
function extended(records: string, { type = "x", file = header({ type: "0" }) } = {}): Buffer {
  const text = Buffer.alloc(Math.ceil(records.length / 512) * 512);
  text.write(records);
  return Buffer.concat([header({ type, size: octal(records.length) }), text, file, END]);
}

function record(key: string, value: string): string {
  const text = ` ${key}=${value}\n`;
  const digits = String(text.length + String(text.length + 2).length);
  return `${digits}${text}`;
}

/** The weight of the archive, given in pieces of this size. */
function weigh(tar: Buffer, piece = 65_536): bigint {
  const weigher = new TarWeigher();
  for (let at = 0; at < tar.length; at += piece) weigher.push(tar.subarray(at, at + piece));
  weigher.end();
  return weigher.weight;
}

/** Files and folders that it makes. */
function entries(tar: Buffer, piece?: number): number {
  return Number((weigh(tar, piece) - BigInt(tar.length)) / BYTES_PER_ENTRY);
}

it("counts bytes and files, whatever pieces it comes in", async () => {
  const tar = await tarOf({ a: "x".repeat(511), b: "x".repeat(512), c: "x".repeat(513), d: "" });
  for (const piece of [1, 511, 512, 513, 65_536]) expect(entries(tar, piece), String(piece)).toBe(4);
});

it("counts folders that a name makes on its way, once", async () => {
  expect(entries(await tarOf({ "a/b/c/d": "", "a/b/c/e": "", "a/b/f": "", "a/g/h": "" }))).toBe(8);
  const tar = await tarOf({ [`${"d/".repeat(2_000)}end`]: "" });
  // The header with the long name counts too.
  expect(entries(tar)).toBe(2_002);
});

it("takes what tools write: long names, links, devices, numbers of all forms", async () => {
  const kinds: readonly Headers[] = [
    { name: "folder/", type: "directory" },
    { name: "folder/file", size: 3 },
    { name: "folder/hard", type: "link", linkname: "folder/file" },
    { name: "folder/soft", type: "symlink", linkname: `${"x".repeat(150)}/file` },
    { name: "null", type: "character-device", devmajor: 1, devminor: 3 },
    { name: `${"long".repeat(60)}/name`, size: 3 },
  ];
  const tar = pack();
  for (const kind of kinds) tar.entry(kind, kind.size === undefined ? "" : "abc");
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk);
  expect(entries(Buffer.concat(chunks))).toBe(kinds.length + 3);
  const large = `\x80${"\0".repeat(10)}\x03`;
  expect(entries(Buffer.concat([header({ type: "0", size: large }), Buffer.alloc(512), END]))).toBe(1);
  expect(entries(Buffer.concat([header({ type: "\0" }), END]))).toBe(1);
});

it.each(["gnu", "pax", "ustar", "v7"])("reads what tar writes as %s", (format) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-tar-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "file"), "x".repeat(700));
  execFileSync("ln", ["-s", "file", join(folder, "link")]);
  execFileSync("ln", [join(folder, "file"), join(folder, "hard")]);
  const tar = execFileSync("tar", ["-C", folder, `--format=${format}`, "--sort=name", "-cf", "-", "."]);
  expect(entries(tar)).toBe(format === "pax" ? 8 : 4);
});

it.each(["gnu", "pax --sparse-version=0.0", "pax --sparse-version=0.1", "pax --sparse-version=1.0"])(
  "refuses files with holes, which take more than they show: %s",
  (format) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-tar-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "bomb"), "");
    truncateSync(join(folder, "bomb"), 2 ** 40);
    const words = `--format=${format}`.split(" ");
    const tar = execFileSync("tar", ["-C", folder, ...words, "--sparse", "-cf", "-", "bomb"]);
    expect(tar.length).toBeLessThan(20_000);
    expect(() => weigh(tar)).toThrow(/holes/);
  },
);

it("refuses extensions that are too long before it keeps them", () => {
  const weigher = new TarWeigher();
  expect(() => weigher.push(header({ type: "x", size: octal(MAX_EXTENSION + 1) }))).toThrow(/too long/);
  for (const type of ["x", "g", "L", "K"]) {
    expect(() => new TarWeigher().push(header({ type, size: octal(8 ** 11 - 1) })), type).toThrow(/too long/);
  }
  new TarWeigher().push(header({ type: "x", size: octal(MAX_EXTENSION) }));
});

const hidden = header({ type: "S", name: "hidden" });
const size = record("size", "512");

it.each<readonly [string, Buffer]>([
  ["contents of a link", Buffer.concat([header({ type: "2", size: octal(512) }), hidden, END])],
  ["contents of a folder", Buffer.concat([header({ type: "5", size: octal(512) }), hidden, END])],
  [
    "contents of what is a folder by its name",
    Buffer.concat([header({ type: "\0", size: octal(512), name: "a/" }), hidden, END]),
  ],
  [
    "contents of what is a folder by its long name",
    extended(record("path", "a/"), { file: Buffer.concat([header({ type: "\0", size: octal(512) }), hidden]) }),
  ],
  ["contents of a link by an extension", extended(size, { file: header({ type: "1" }) })],
  ["two sizes", extended(size + record("size", "0"))],
  ["a size for all files", extended(size, { type: "g" })],
  ["a size that is a word", extended(record("size", "0x200"))],
  ["no size", extended(record("size", ""))],
  ["two extensions", Buffer.concat([extended(size, { file: Buffer.alloc(0) }).subarray(0, -1024), extended("")])],
  ["two long names", extended(record("path", "a") + record("path", "b"))],
  ["holes for all files", extended(record("GNU.sparse.major", "1"), { type: "g" })],
  ["a record that is too long", extended("99 path=a\n")],
  ["a record without a length", extended("path=a\n")],
  ["a record of no bytes", extended("0 path=a\n")],
  ["a negative size", Buffer.concat([header({ type: "0", size: "\xff".repeat(12) }), END])],
  ["a size beyond all", Buffer.concat([header({ type: "0", size: `\x80${"\xff".repeat(11)}` }), END])],
  ["letters in a size", Buffer.concat([header({ type: "0", size: "0000000zz00\0" }), END])],
  ["an empty block within", Buffer.concat([Buffer.alloc(512), header({ type: "0" })])],
  ["a damaged header", Buffer.concat([header({ type: "0" }).fill(1, 0, 4), END])],
  ["half a header", header({ type: "0" }).subarray(0, 100)],
  ["half a file", Buffer.concat([header({ type: "0", size: octal(513) }), Buffer.alloc(512)])],
])("refuses what readers read differently: %s", (_, tar) => {
  for (const piece of [7, 65_536]) expect(() => weigh(tar, piece)).toThrow();
});

it("reads nothing after the end", () => {
  expect(entries(Buffer.concat([header({ type: "0" }), END, Buffer.alloc(700, 7)]))).toBe(1);
});
