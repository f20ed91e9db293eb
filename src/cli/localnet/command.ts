import { join } from "node:path";
import { NODE_SETTINGS } from "../../node/index.ts";
import { CLUSTER_KINDS } from "../../provider/index.ts";
import { DEFAULT_TERMS, loadSdlFile } from "../../sdl/index.ts";
import { readSetting, settingReader } from "../../util/index.ts";
import { flagSettings } from "../command/flag-settings.ts";
import type { Flags } from "../command/flags.ts";
import { userHome, userPath } from "../command/home.ts";
import type { CommandInput } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { chosenKind } from "../provider/run/cluster.ts";
import { stopRequested } from "../terminal/signals.ts";
import { givenPlace } from "./cluster.ts";
import { Localnet } from "./localnet.ts";
import { MAX_MEMBERS } from "./ports.ts";
import { holdsRelease } from "./processes/net-server.ts";

/** `svc localnet`. */
export async function localnet({ flags, io }: CommandInput): Promise<number> {
  const blockIntervalMs = readSetting(NODE_SETTINGS.blockInterval, flagSettings(flags));
  const deploy = flags.optional("deploy");
  // A fault in the file is reported before anything is started for it.
  if (deploy !== undefined) loadSdlFile(deploy, DEFAULT_TERMS);
  const kind = chosenKind(flags);
  // A wrong place is reported before anything is started.
  kind.configure(settingReader(flagSettings(flags)));
  const stop = new AbortController();
  const home = flags.optional("home");
  const validators = flags.optional("validators") === undefined ? undefined : member(flags, "validators");
  const options = {
    portOffset: flags.count("port-offset"),
    blockIntervalMs,
    keep: flags.bool("keep"),
    validators,
    providers: member(flags, "providers"),
    cometbft: { given: flags.optional("cometbft"), home: join(userHome(), ".svc") },
    engineSocket: flags.text("cluster-engine"),
    json: flags.text("output") === "json",
    ...releasesOf(flags),
    signal: stop.signal,
    ...(home === undefined ? {} : { home: userPath(home) }),
    ...(deploy === undefined ? {} : { deploy }),
    ...(kind === CLUSTER_KINDS[0] ? {} : { givenCluster: givenPlace(kind, flags) }),
  };
  const net = new Localnet(options, io);
  const wish = stopRequested(() => net.tellRemains());
  void wish.received.then(() => stop.abort());
  try {
    return await (flags.bool("clean") ? net.clean() : net.run());
  } finally {
    wish.forget();
  }
}

/** The folder of a release, checked before anything is started. */
function releasesOf(flags: Flags): { readonly releases?: string } {
  const given = flags.optional("releases");
  if (given === undefined) return {};
  const releases = userPath(given);
  if (!holdsRelease(releases))
    throw usageError(
      `${flags.label("releases")}: ${given} holds no release`,
      "npm run release makes one in dist/release",
    );
  return { releases };
}

function member(flags: Flags, name: string): number {
  const count = flags.count(name);
  if (count < 1 || count > MAX_MEMBERS)
    throw usageError(`${flags.label(name)} takes 1 to ${MAX_MEMBERS}, not ${count}`);
  return count;
}
