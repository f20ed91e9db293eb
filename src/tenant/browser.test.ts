import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

/** Takes `x.browser.ts` where it stands beside `x.ts`, as bundlers of the package do. */
const variants: Plugin = {
  name: "variants",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => {
      const variant = resolve(resolveDir, path).replace(/\.ts$/, ".browser.ts");
      return existsSync(variant) ? { path: variant, sideEffects: false } : undefined;
    });
  },
};

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
    external: ["node:*", "ws"],
    plugins: [variants],
  });
  const outputs = Object.values(metafile.outputs);
  expect(outputs.flatMap(({ imports }) => imports).filter(({ path }) => /^(node:|ws$)/.test(path))).toEqual([]);
  const inputs = outputs.flatMap(({ inputs }) => Object.keys(inputs));
  expect(inputs).toContain("src/tenant/run.ts");
  expect(inputs.filter((path) => /^src\/(tenant\/node|certs)\//.test(path))).toEqual([]);
});
