import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { build as buildPage } from "vite";

export interface Bundle {
  /** Paths of the modules that ended up in the bundle, in any chunk. */
  readonly modules: readonly string[];
  /** Bytes of all chunks, minified. */
  readonly size: number;
}

export interface BundleOptions {
  /** Where packages are searched for. */
  readonly project: string;
  readonly platform: "browser" | "node";
  /** Development servers leave everything in. */
  readonly treeShaking?: boolean;
}

/** Bundles a program; for a browser, nothing of Node.js is available. Rejects with the bundler's words. */
export async function bundle(code: string, options: BundleOptions): Promise<Bundle> {
  const { project, platform, treeShaking = true } = options;
  const { metafile } = await build({
    stdin: { contents: code, resolveDir: project },
    absWorkingDir: project,
    outdir: "bundles",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    metafile: true,
    logLevel: "silent",
    tsconfigRaw: {},
    platform,
    treeShaking,
  });
  return { modules: modulesOf(metafile), size: sizeOf(metafile) };
}

function modulesOf({ outputs }: Metafile): string[] {
  const used = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return used.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
}

function sizeOf({ outputs }: Metafile): number {
  return Object.values(outputs).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Bytes, compressed by gzip -9, of all that a page loads for a program that Vite bundles in a project. */
export async function pageSize(code: string, project: string): Promise<number> {
  const input = join(project, "page-size.js");
  writeFileSync(input, code);
  const build = { write: false, rollupOptions: { input } };
  const made = await buildPage({ root: project, configFile: false, logLevel: "error", build });
  const chunks = "output" in made ? made.output.flatMap((each) => ("code" in each ? [each.code] : [])) : [];
  if (chunks.length === 0) throw new Error("nothing was bundled");
  return chunks.reduce((sum, chunk) => sum + gzipSync(chunk, { level: 9 }).length, 0);
}
