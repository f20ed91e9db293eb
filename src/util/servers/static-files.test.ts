import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileAnswer, StaticFiles } from "./static-files.ts";

let root = "";
let folder = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-static-"));
  folder = join(root, "console");
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "secret");
});

afterEach(() => rmSync(root, { recursive: true }));

function build(): void {
  writeFileSync(join(folder, "assets", "main-ABCDEFGH.js"), "import 1");
  writeFileSync(join(folder, "assets", "main-ABCDEFGH.js.gz"), "packed");
  writeFileSync(join(folder, ".inputs"), "src");
  writeFileSync(join(folder, "half.js.tmp"), "half");
  symlinkSync(join(root, "secret.txt"), join(folder, "link.txt"));
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
}

const textOf = (files: StaticFiles, path: string) => files.find(path)?.contents.toString();

describe("the files of a folder", () => {
  it("are found by their paths, and the folder shows its index", () => {
    build();
    const files = new StaticFiles(folder);
    expect([textOf(files, ""), textOf(files, "index.html")]).toEqual(["<!doctype html>", "<!doctype html>"]);
    expect(files.find("assets/main-ABCDEFGH.js")).toMatchObject({ type: "text/javascript; charset=utf-8" });
  });

  it.each([
    "../secret.txt",
    "..%2fsecret.txt",
    "%2e%2e/secret.txt",
    "assets/../../secret.txt",
    "/etc/passwd",
    "assets",
    "assets/",
    "link.txt",
    ".inputs",
    "half.js.tmp",
    "assets/main-ABCDEFGH.js.gz",
    "__proto__",
    "index.html\0",
  ])("are not reached by %j", (path) => {
    build();
    expect(new StaticFiles(folder).find(path)).toBeUndefined();
  });

  it("are looked for again until there is an index, and stay as they were read from then on", () => {
    const files = new StaticFiles(folder);
    expect([files.isBuilt, files.find("")]).toEqual([false, undefined]);
    build();
    expect([files.isBuilt, textOf(files, "")]).toEqual([true, "<!doctype html>"]);
    writeFileSync(join(folder, "index.html"), "later");
    expect(textOf(files, "")).toBe("<!doctype html>");
  });
});

describe("the answer with a file", () => {
  beforeEach(build);

  const answerOf = (path: string, accepted?: string) => {
    const file = new StaticFiles(folder).find(path);
    if (file === undefined) throw new Error(`${path} is not served`);
    return fileAnswer(file, accepted);
  };

  it("is kept for good where the name holds a hash, and asked for anew where not", () => {
    const cached = (path: string) => answerOf(path).headers["Cache-Control"];
    expect(cached("assets/main-ABCDEFGH.js")).toBe("public, max-age=31536000, immutable");
    expect(cached("index.html")).toBe("no-cache");
  });

  it.each([
    ["gzip, deflate, br", "gzip"],
    ["br;q=1, gzip;q=0.5", "gzip"],
    ["gzip;q=0", undefined],
    ["gzip; q=0.0, br", undefined],
    ["identity", undefined],
    [undefined, undefined],
  ])("is compressed as far as %j accepts", (accepted, encoding) => {
    const { body, headers } = answerOf("assets/main-ABCDEFGH.js", accepted);
    expect(headers).toMatchObject({ Vary: "Accept-Encoding" });
    expect([headers["Content-Encoding"], String(body)]).toEqual([
      encoding,
      encoding === "gzip" ? "packed" : "import 1",
    ]);
  });

  it("is the file itself where nothing compressed is beside it", () => {
    const { body, headers } = answerOf("index.html", "gzip");
    expect([String(body), headers["Content-Encoding"], headers.Vary]).toEqual([
      "<!doctype html>",
      undefined,
      undefined,
    ]);
  });
});
