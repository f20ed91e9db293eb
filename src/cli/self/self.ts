import { isOlder, latestVersion, parseVersion, releaseErrors } from "../../util/servers/index.ts";
import type { CommandInput, Run } from "../command/spec.ts";
import { COMMIT, VERSION } from "../node/version.ts";
import { printAs, printResult } from "../terminal/output.ts";
import { installVersion, netOf, ownInstallation, rollBack } from "./installation.ts";

/** `self update`: processes that run go on with the version that they began with. */
export const selfUpdate: Run = async (input) => {
  const { flags } = input;
  const place = ownInstallation();
  const net = netOf(flags);
  const wanted = flags.optional("version");
  const version = wanted === undefined ? await latestVersion(net) : parseVersion(wanted);
  if (wanted === undefined && isOlder(version, place.version))
    throw releaseErrors.older(`${version} of ${net} is older than the installed ${place.version}`);
  if (version !== place.version) await installVersion(place, net, version);
  print(input, place.version, version);
};

/** `self rollback`. */
export const selfRollback: Run = async (input) => {
  const place = ownInstallation();
  print(input, place.version, await rollBack(place));
};

function print(input: CommandInput, before: string, version: string): void {
  const text =
    before === version ? `svc ${version} is installed already\n` : `svc ${version} is in the place of ${before}\n`;
  printAs(input, { version, before }, text);
}

/** `version`; with `--long` also the build and the runtime, with `--check` the latest version of the network. */
export const version: Run = async (input) => {
  const { flags, io } = input;
  if (flags.bool("check")) return checkVersion(input);
  if (!flags.bool("long")) {
    io.out(`${VERSION}\n`);
    return;
  }
  const told = { name: "svc", server_name: "svc", version: VERSION, commit: COMMIT, node: process.version };
  printResult(told, flags.text("output") === "json" ? "json" : "text", io);
};

async function checkVersion(input: CommandInput): Promise<void> {
  const net = netOf(input.flags);
  const latest = await latestVersion(net);
  const newer = isOlder(VERSION, latest);
  const told = newer
    ? `${latest} is newer than this ${VERSION}: run svc self update\n`
    : `${VERSION} is up to date: ${net} publishes ${latest}\n`;
  printAs(input, { version: VERSION, latest, newer }, told);
}
