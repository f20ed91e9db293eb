import type { Metafile } from "esbuild";

/** The files of the console by their paths below its folder, and what the bundler says of them. */
export function bundleConsole(): Promise<{ files: Map<string, Buffer>; metafile: Metafile }>;
