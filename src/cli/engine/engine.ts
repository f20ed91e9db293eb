import { type EngineProgram, findProgram, installProgram } from "../../engine/index.ts";
import { homeOf } from "../command/home.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { printAs } from "../terminal/output.ts";

/** `engine install`: builds the program; Go's messages go to standard error. */
export const engineInstall: Run = async (input) => {
  const { flags, io } = input;
  const report = (text: string) => io.err(text);
  print(input, await installProgram({ home: homeOf(flags), go: flags.optional("go"), env: process.env, report }));
};

/** `engine show`: path and version of the program. */
export const engineShow: Run = async (input) => {
  const { flags } = input;
  const { PATH = "" } = process.env;
  print(input, findProgram({ given: flags.optional("cometbft"), home: homeOf(flags), path: PATH }));
};

function print(input: CommandInput, { path, version }: EngineProgram): void {
  printAs(input, { path, version }, `CometBFT ${version} at ${path}\n`);
}
