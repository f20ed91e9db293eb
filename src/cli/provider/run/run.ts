import { openCertificate, type TlsIdentity } from "../../../certs/index.ts";
import type { TxSigner } from "../../../client/index.ts";
import {
  type ClusterDriver,
  type ClusterKind,
  clusterKind,
  makeRoom,
  type PlaneLink,
  runProvider,
} from "../../../provider/index.ts";
import { boundGarbage, createLogger, EXIT, errorText, type Logger } from "../../../util/index.ts";
import { encodeAddress } from "../../../wire/index.ts";
import { homeOf } from "../../command/home.ts";
import type { CommandInput } from "../../command/spec.ts";
import { lockHome } from "../../config/home-lock.ts";
import { type CliContext, createContext } from "../../context.ts";
import { commandError } from "../../errors.ts";
import { findKey } from "../../keys/keys.ts";
import { signingKeyName } from "../../keys/only-key.ts";
import { logOptions } from "../../node/log-options.ts";
import { VERSION } from "../../node/version.ts";
import { stopRequested } from "../../terminal/signals.ts";
import { keyringSigner } from "../../tx/session/sender.ts";
import { readClusterSettings, readSettings } from "./config.ts";
import { openPlane } from "./plane.ts";

/** `svc provider run`. */
export async function providerRun(input: CommandInput): Promise<number> {
  const { flags } = input;
  const kind = clusterKind({ orchestrator: flags.bool("cluster-orch") || flags.given("clusterconfig") });
  if (kind === undefined) {
    throw commandError("this release runs containers on a container engine, not on an orchestrator", {
      hint: "leave out --cluster-orch (--cluster-k8s) and --clusterconfig (--kubeconfig)",
    });
  }
  const settings = readSettings(flags);
  const cluster = { kind, settings: readClusterSettings(flags) };
  const log = createLogger(logOptions(flags));
  boundGarbage();
  const context = createContext(input);
  const key = await findKey(await context.keyring(), await signingKeyName(context), context.keys);
  const signer = await keyringSigner(context, { address: encodeAddress(key.address), key });
  const identity = await openCertificate({ home: homeOf(flags), kind: "server", signer });
  makeRoom(settings.stateDir);
  // Two daemons of one account would bid twice, and each would remove the other's containers.
  const lock = lockHome(settings.stateDir, {
    text: `another process already runs the provider of ${homeOf(flags)}`,
    hint: "stop it first, or name the home of another provider with --home",
  });
  try {
    return await runLocked(input, { settings, cluster, signer, identity, log, context });
  } finally {
    lock.release();
  }
}

interface ChosenCluster {
  readonly kind: ClusterKind;
  readonly settings: ReturnType<typeof readClusterSettings>;
}

interface Prepared {
  readonly settings: ReturnType<typeof readSettings>;
  readonly cluster: ChosenCluster;
  readonly signer: TxSigner;
  readonly identity: TlsIdentity;
  readonly log: Logger;
  readonly context: CliContext;
}

async function runLocked(
  { flags }: CommandInput,
  { settings, cluster, signer, identity, log, context }: Prepared,
): Promise<number> {
  const wanted = flags.optional(cluster.kind.orchestrator ? "clusterconfig" : "cluster-engine");
  const found = await cluster.kind.find(wanted);
  log.info("container engine found", { kind: found.kind, version: found.version, socket: found.address });
  const plane = await openPlane(settings, log);
  const driver = await openDriver({ cluster, address: found.address, plane, log });
  const stop = stopRequested();
  const starting = new AbortController();
  void stop.received.then(() => starting.abort());
  const { signal } = starting;
  try {
    const config = { ...settings, driver, plane };
    const client = await context.chain();
    const request = { config, client, signer, identity, version: VERSION, log, signal };
    const provider = await runProvider(request).catch(async (error: unknown) => {
      // A provider that never ran leaves no process behind.
      await plane.abandon();
      throw error;
    });
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
    await plane.close();
    stop.forget();
  }
}

interface DriverWish {
  readonly cluster: ChosenCluster;
  readonly address: string;
  readonly plane: PlaneLink;
  readonly log: Logger;
}

async function openDriver({ cluster, address, plane, log }: DriverWish): Promise<ClusterDriver> {
  const { carrier } = plane;
  const settings = { ...cluster.settings, carrier, address, log: log.child({ module: "provider-cluster" }) };
  return cluster.kind.open(settings).catch(async (error: unknown) => {
    await plane.abandon();
    throw error;
  });
}
