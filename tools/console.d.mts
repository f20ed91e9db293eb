/** The packages of the pages. */
export const PACKAGES: readonly string[];

/** A script of the pages. */
export interface Script {
  /** Sources that are loaded by their names, such as pages, by their paths in the repository. */
  readonly sources: readonly string[];
  /** Scripts that are loaded with it. */
  readonly imports: readonly string[];
}

/** The files of the console by their paths below its folder, the scripts among them, and the sources that were read. */
export function bundleConsole(): Promise<{
  files: Map<string, Buffer>;
  scripts: ReadonlyMap<string, Script>;
  inputs: string[];
}>;
