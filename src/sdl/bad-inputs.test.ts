import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { SDL_CODES, SdlError, type SdlErrorKind, type SdlIssue } from "./errors.ts";
import { loadSdl } from "./load.ts";

const FAULTS = resolve(import.meta.dirname, "../../test/vectors/sdl-faults");

function read(name: string): string {
  return readFileSync(join(FAULTS, name), "utf8");
}

/** A valid file with most kinds of keys; each row of the table breaks it in one place. */
const SAMPLE = read("sample.yaml");

interface Row {
  readonly from: string;
  readonly to: string;
  /** Line and column of the first fault. */
  readonly at: string;
  readonly kind: SdlErrorKind;
  /** Path, problem and remedy. */
  readonly says: string;
}

const ROWS: readonly Row[] = JSON.parse(read("faults.json"));

function load(text: string): readonly SdlIssue[] {
  try {
    loadSdl(text, { file: "sample.yaml" });
    return [];
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    return error.issues;
  }
}

describe("a broken deployment file", () => {
  it("starts from a sample without faults or warnings", () => {
    expect(loadSdl(SAMPLE).warnings).toEqual([]);
  });

  it.each(ROWS)("$at $to", ({ from, to, at, kind, says }) => {
    expect(SAMPLE.split(from).length).toBeGreaterThan(1);
    const [issue] = load(SAMPLE.replace(from, () => to));
    expect(issue).toBeDefined();
    if (issue === undefined) return;
    const path = issue.path === "" ? "" : `${issue.path}: `;
    expect(`${issue.line}:${issue.column}`).toBe(at);
    expect(`${path}${issue.problem}; ${issue.remedy}`).toBe(says);
    expect(issue).toMatchObject({ kind, file: "sample.yaml" });
    expect(SDL_CODES[kind]).toBeGreaterThan(0);
  });

  it("is refused with all its faults, in the order of the file", () => {
    const text = SAMPLE.replace("port: 8080", "port: 0").replace("0.5", "lots").replace("count: 2", "count: 99");
    expect(load(text).map(({ line, column }) => `${line}:${column}`)).toEqual(["12:15", "29:18", "58:14"]);
  });

  it("gives message, code and hint of the first fault", () => {
    const text = SAMPLE.replace("port: 8080", "port: 0").replace("count: 2", "count: 99");
    expect(() => loadSdl(text, { file: "sample.yaml" })).toThrowError(
      expect.objectContaining({
        codespace: "sdl",
        code: SDL_CODES.range,
        message: "sample.yaml:12:15: services.web.expose[0].port: 0 is not a port (and 1 more)",
        hint: "write a number from 1 to 65535 (svc sdl validate sample.yaml shows all)",
      }),
    );
  });

  it("never repeats a secret", () => {
    const credentials =
      "    credentials: {host: r.example.com, username: [], password: pw987, email: {a: b}}\n    env:\n";
    const image = SAMPLE.replace("docker.io/library/nginx:1.27", "me:hunter22@registry.example.com/app");
    const texts = [...load(SAMPLE.replace("    env:\n", () => credentials)), ...load(image)].map(
      (issue) => issue.problem,
    );
    expect(texts).toHaveLength(4);
    expect(texts.join()).not.toMatch(/pw987|hunter22/);
  });

  it("is refused as quickly when a text in it is as long as the file may be", () => {
    const image = `"${":".repeat(60_000)}"`;
    // With work that grows with the square of the length, these take minutes.
    for (let i = 0; i < 20; i++) {
      const [issue] = load(SAMPLE.replace("docker.io/library/nginx:1.27", image));
      expect(issue?.problem).toMatch(/ is not the name of an image$/);
    }
  });

  it("is shown without characters that act on a terminal", () => {
    const [issue] = load(SAMPLE.replace("region: eu-west", '"a\\e[31m\\u202Eb": c'));
    expect(issue?.problem).toBe('"a\\u001b[31m\\u{202e}b" is not a name for an attribute');
  });
});
