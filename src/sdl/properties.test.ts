import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMap, parseDocument, visit } from "yaml";
import { anyText, runs } from "../../test/support/runs.ts";
import { YAML_PIECES } from "../../test/support/yaml-pieces.ts";
import { GroupSpecSchema } from "../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { SdlError } from "./errors.ts";
import { loadSdl } from "./load.ts";
import { manifestHash, manifestJson } from "./plan/hash.ts";
import { checkManifestAgainstGroups } from "./rules/check.ts";
import { decodeManifest } from "./rules/decode.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FILES = ["examples", "test/vectors/sdl"].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8")),
);
const file = fc.constantFrom(...FILES);

/** One change to a text; positions are shares of its length. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(12),
  insert: fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom(...YAML_PIECES)),
});

function apply(text: string, { at, length, insert }: { at: number; length: number; insert: string }): string {
  const start = Math.floor(at * text.length);
  return text.slice(0, start) + insert + text.slice(start + length);
}

describe("any text", () => {
  it("is loaded consistently or refused with an SdlError that has a place", () => {
    fc.assert(
      fc.property(file, fc.array(edit, { minLength: 1, maxLength: 4 }), (text, edits) => {
        checkText(edits.reduce(apply, text));
      }),
      { numRuns: runs(150) },
    );
  });

  it("without any structure is refused the same way", () => {
    const characters = fc.constantFrom(..." \t\n\r:-?[]{}#&*!|>'\"%@`,abc019.~<=\u00e9\u2028\ud83d\ude00");
    const noise = fc.array(characters, { maxLength: 300 }).map((parts) => parts.join(""));
    fc.assert(fc.property(fc.oneof(noise, anyText()), checkText), { numRuns: runs(100) });
  });
});

function checkText(text: string): void {
  try {
    const { manifest, groups, hash } = loadSdl(text, { file: "any.yaml" });
    const received = decodeManifest(JSON.parse(manifestJson(manifest)));
    expect(received).toEqual(manifest);
    expect(manifestHash(received)).toEqual(hash);
    checkManifestAgainstGroups(received, groups);
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    for (const issue of error.issues) {
      expect(issue.line).toBeGreaterThan(0);
      expect(issue.column).toBeGreaterThan(0);
      expect(issue.remedy).not.toBe("");
    }
  }
}

describe("the order of keys", () => {
  it("changes neither hash nor groups", () => {
    fc.assert(
      fc.property(file, fc.infiniteStream(fc.nat()), (text, numbers) => {
        const before = loadSdl(text);
        const after = loadSdl(shuffleKeys(text, numbers));
        expect(after.hash).toEqual(before.hash);
        const bytes = (groups: typeof before.groups) => groups.map((group) => toBinary(GroupSpecSchema, group));
        expect(bytes(after.groups)).toEqual(bytes(before.groups));
      }),
      { numRuns: runs(40) },
    );
  });
});

function shuffleKeys(text: string, numbers: Iterator<number>): string {
  const document = parseDocument(text, { schema: "failsafe" });
  const ranks = new Map<unknown, number>();
  visit(document, {
    Map(_, map) {
      for (const pair of map.items) ranks.set(pair, numbers.next().value ?? 0);
      if (isMap(map)) map.items.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
    },
  });
  return document.toString({ lineWidth: 0 });
}
