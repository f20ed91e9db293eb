import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

test("the workflow of a deployment needs nothing from Node.js", async () => {
  const { metafile } = await build({
    stdin: { contents: 'export * from "./src/tenant/index.ts";', resolveDir: ROOT },
    absWorkingDir: ROOT,
    outdir: "bundles",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    metafile: true,
    logLevel: "silent",
    platform: "browser",
    // Keeps imports of Node.js modules, so that the test finds them in the bundle.
    external: ["node:*"],
  });
  const outputs = Object.values(metafile.outputs);
  expect(outputs.flatMap(({ imports }) => imports).filter(({ path }) => path.startsWith("node:"))).toEqual([]);
  const inputs = outputs.flatMap(({ inputs }) => Object.keys(inputs));
  expect(inputs).toContain("src/tenant/run.ts");
  expect(inputs.filter((path) => /^src\/(tenant\/node|certs|client\/gateway)\//.test(path))).toEqual([]);
});
