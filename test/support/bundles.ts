import { build, type Metafile } from "esbuild";

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
