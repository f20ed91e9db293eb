import type { TxSigner } from "../../client/index.ts";
import { createEngineDriver, discoverEngine, type EngineDriver, runProvider } from "../../provider/index.ts";
import { createLogger, EXIT, errorText, type Logger } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { openCertificate, type TlsIdentity } from "../cert/issue.ts";
import { type CliContext, createContext } from "../context.ts";
import { commandError } from "../errors.ts";
import type { Flags } from "../flags.ts";
import { homeOf } from "../home.ts";
import { lockHome } from "../home-lock.ts";
import { findKey } from "../keys.ts";
import { logOptions } from "../log-options.ts";
import { signingKeyName } from "../only-key.ts";
import { stopRequested } from "../signals.ts";
import type { CommandInput } from "../spec.ts";
import { keyringSigner } from "../tx/sender.ts";
import { VERSION } from "../version.ts";
import { readEngineSettings, readSettings } from "./config.ts";

/** `svc provider run`. */
export async function providerRun(input: CommandInput): Promise<number> {
  const { flags } = input;
  if (flags.bool("cluster-orch") || flags.given("clusterconfig")) {
    throw commandError("this release runs containers on a container engine, not on an orchestrator", {
      hint: "leave out --cluster-orch (--cluster-k8s) and --clusterconfig (--kubeconfig)",
    });
  }
  const settings = readSettings(flags);
  const log = createLogger(logOptions(flags));
  const context = createContext(input);
  const key = await findKey(await context.keyring(), await signingKeyName(context), context.keys);
  const signer = await keyringSigner(context, { address: encodeAddress(key.address), key });
  const identity = await openCertificate({ home: homeOf(flags), kind: "server", signer });
  // Two daemons of one account would bid twice, and each would remove the other's containers.
  const lock = lockHome(settings.stateDir, {
    text: `another process runs the provider of ${homeOf(flags)} already`,
    hint: "stop that one first, or name the home of another provider with --home",
  });
  try {
    return await runLocked(input, { settings, signer, identity, log, context });
  } finally {
    lock.release();
  }
}

interface Prepared {
  readonly settings: ReturnType<typeof readSettings>;
  readonly signer: TxSigner;
  readonly identity: TlsIdentity;
  readonly log: Logger;
  readonly context: CliContext;
}

async function runLocked(
  { flags }: CommandInput,
  { settings, signer, identity, log, context }: Prepared,
): Promise<number> {
  const driver = await openDriver(flags, log);
  const stop = stopRequested();
  const starting = new AbortController();
  void stop.received.then(() => starting.abort());
  const { signal } = starting;
  try {
    const config = { ...settings, driver };
    const client = await context.chain();
    const provider = await runProvider({ config, client, signer, identity, version: VERSION, log, signal });
    const why = await Promise.race([stop.received, provider.failed]);
    log.info("stopping", { why: errorText(why) });
    await provider.stop();
    if (why instanceof Error) throw why;
    return EXIT.done;
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    await driver.close();
    stop.forget();
  }
}

async function openDriver(flags: Flags, log: Logger): Promise<EngineDriver> {
  const { socket, kind, version } = await discoverEngine(flags.optional("cluster-engine"));
  log.info("container engine found", { kind, version, socket });
  return createEngineDriver({ socket, ...readEngineSettings(flags), log: log.child({ module: "provider-cluster" }) });
}
