import type { Metafile } from "esbuild";

/** The packages of the pages. */
export const PACKAGES: readonly string[];

/** The files of the console by their paths below its folder, what the bundler says of them, and the files that it read. */
export function bundleConsole(): Promise<{ files: Map<string, Buffer>; metafile: Metafile; inputs: string[] }>;
