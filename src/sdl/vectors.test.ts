import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { toHex } from "../util/index.ts";
import { loadSdl } from "./load.ts";
import { manifestHash, manifestJson } from "./plan/hash.ts";
import { checkManifestAgainstGroups } from "./rules/check.ts";
import { decodeManifest } from "./rules/decode.ts";

const VECTORS = resolve(import.meta.dirname, "../../test/vectors/sdl");
const names = readdirSync(VECTORS)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => name.replace(/\.yaml$/, ""));

function read(name: string): string {
  return readFileSync(join(VECTORS, name), "utf8");
}

describe("recorded deployment files", () => {
  it("are all there", () => {
    expect(names).toHaveLength(11);
  });

  it.each(names)("%s has the recorded manifest and hash", (name) => {
    const { manifest, hash } = loadSdl(read(`${name}.yaml`), { file: `${name}.yaml` });
    expect(manifestJson(manifest)).toBe(read(`${name}.json`).trim());
    expect(toHex(hash)).toBe(read(`${name}.sha256`).trim());
  });

  it.each(names)("%s: the sent manifest is read back equal and fits the groups", (name) => {
    const { manifest, groups, hash } = loadSdl(read(`${name}.yaml`));
    const received = decodeManifest(JSON.parse(read(`${name}.json`)));
    expect(received).toEqual(manifest);
    expect(manifestHash(received)).toEqual(hash);
    expect(() => checkManifestAgainstGroups(received, groups)).not.toThrow();
  });
});

describe("params.tee", () => {
  it("enters the canonical JSON in its long form and is read back from it", () => {
    const text = read("web.yaml").replace("    expose:", "    params: {tee: cpu}\n    expose:");
    const { manifest, groups } = loadSdl(text);
    expect(manifestJson(manifest)).toContain('"params":{"storage":null,"tee":{"attestation":true,"type":"cpu"}}');
    expect(decodeManifest(JSON.parse(manifestJson(manifest)))).toEqual(manifest);
    expect(groups[0]?.requirements?.attributes).toMatchObject([{ key: "tee/type", value: "cpu" }]);
  });
});
