import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  adoptProgram,
  type EngineProgram,
  findProgram,
  installProgram,
  isInstalled,
  TESTED_VERSION,
} from "../../engine/index.ts";
import { errorText, isOneOf } from "../../util/index.ts";
import { releaseErrors } from "../../util/servers/index.ts";
import { homeOf } from "../command/home.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { VERSION } from "../node/version.ts";
import { knownNet, ownKey, unpack } from "../self/installation.ts";
import { bringFile } from "../self/release.ts";
import { printAs } from "../terminal/output.ts";

/** `engine install`: takes the program of the network, or builds it; messages of Go go to standard error. */
export const engineInstall: Run = async (input) => {
  const { flags, io } = input;
  const [home, go] = [homeOf(flags), flags.optional("go")];
  const report = (text: string) => io.err(text);
  const published = go === undefined ? await installPublished(input, home) : undefined;
  print(input, published ?? (await installProgram({ home, go, env: process.env, report })));
};

/** Takes the program from the release of this svc; undefined if no network is known, or if it does not have it. */
async function installPublished({ flags, io }: CommandInput, home: string): Promise<EngineProgram | undefined> {
  const [publicKey, net] = [ownKey(), knownNet(flags)];
  if (publicKey === undefined || net === undefined || isInstalled(home)) return undefined;
  const name = `cometbft-${TESTED_VERSION}-${process.platform}-${process.arch}`;
  const work = join(home, "cometbft", `incoming-${process.pid}`);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  try {
    await bringFile({ net, version: VERSION, publicKey }, `${name}.tar.gz`, join(work, "archive"));
    unpack(join(work, "archive"), work);
    return adoptProgram(home, join(work, name, "cometbft"));
  } catch (error) {
    if (!isOneOf([releaseErrors.unreadable], error)) throw error;
    io.err(`${errorText(error)}\nso Go builds it:\n`);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** `engine show`: path and version of the program. */
export const engineShow: Run = async (input) => {
  const { flags } = input;
  const { PATH = "" } = process.env;
  print(input, findProgram({ given: flags.optional("cometbft"), home: homeOf(flags), path: PATH }));
};

function print(input: CommandInput, { path, version }: EngineProgram): void {
  printAs(input, { path, version }, `CometBFT ${version} at ${path}\n`);
}
