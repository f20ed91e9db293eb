import { loadSdlFile } from "../../sdl/index.ts";
import { durationFlag } from "../duration.ts";
import { usageError } from "../errors.ts";
import { userPath } from "../home.ts";
import { stopRequested } from "../signals.ts";
import type { CommandInput } from "../spec.ts";
import { Localnet } from "./localnet.ts";

const MIN_INTERVAL_MS = 100;

/** `svc localnet`. */
export async function localnet({ flags, io }: CommandInput): Promise<number> {
  const blockIntervalMs = durationFlag(flags, "block-interval");
  if (blockIntervalMs < MIN_INTERVAL_MS) throw usageError(`--block-interval is at least ${MIN_INTERVAL_MS}ms`);
  const deploy = flags.optional("deploy");
  // A fault of the file is told before anything is started for it.
  if (deploy !== undefined) loadSdlFile(deploy);
  const stop = new AbortController();
  const wish = stopRequested();
  void wish.received.then(() => stop.abort());
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
  };
  try {
    return await new Localnet(options, io).run();
  } finally {
    wish.forget();
  }
}
