import { NODE_SETTINGS } from "../../node/index.ts";
import { CLUSTER_KINDS } from "../../provider/index.ts";
import { DEFAULT_TERMS, loadSdlFile } from "../../sdl/index.ts";
import { readSetting, settingReader } from "../../util/index.ts";
import { flagSettings } from "../command/flag-settings.ts";
import { userPath } from "../command/home.ts";
import type { CommandInput } from "../command/spec.ts";
import { chosenKind } from "../provider/run/cluster.ts";
import { stopRequested } from "../terminal/signals.ts";
import { givenPlace } from "./cluster.ts";
import { Localnet } from "./localnet.ts";

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
  const options = {
    portOffset: flags.count("port-offset"),
    blockIntervalMs,
    keep: flags.bool("keep"),
    engineSocket: flags.text("cluster-engine"),
    json: flags.text("output") === "json",
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
