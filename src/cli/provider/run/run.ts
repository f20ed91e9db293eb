import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { openCertificate, type TlsIdentity } from "../../../certs/index.ts";
import type { TxSigner } from "../../../client/index.ts";
import {
  browserGateway,
  type Cluster,
  type ClusterDriver,
  type ClusterSettings,
  type Finding,
  ingressTls,
  makeRoom,
  PLANE_WORD,
  PlaneLink,
  type PlaneSettings,
  type ProviderConfig,
  runProvider,
} from "../../../provider/index.ts";
import { createLogger, EXIT, errorText, type Logger, unlessAborted } from "../../../util/index.ts";
import { networkTexts } from "../../../util/servers/index.ts";
import { encodeAddress } from "../../../wire/index.ts";
import { homeOf } from "../../command/home.ts";
import type { CommandInput } from "../../command/spec.ts";
import { lockHome } from "../../config/home-lock.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { findKey } from "../../keys/keys.ts";
import { keyringSigner, signingKeyName } from "../../keys/signer.ts";
import { logOptions } from "../../node/log-options.ts";
import { VERSION } from "../../node/version.ts";
import { stopRequested } from "../../terminal/signals.ts";
import { chosenCluster } from "./cluster.ts";
import { readClusterSettings, readSettings } from "./config.ts";

/** Findings about the provider of an account, by the flags with which it runs. */
export type Examine = (context: CliContext, address: string) => Promise<readonly Finding[]>;

/** `svc provider run`. */
export async function providerRun(input: CommandInput, examine?: Examine): Promise<number> {
  const { flags } = input;
  const settings = readSettings(flags);
  const cluster = chosenCluster(flags);
  const clusterSettings = readClusterSettings(flags);
  const log = createLogger(logOptions(flags));
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
    const provider = encodeAddress(key.address);
    const leases = { ...clusterSettings, provider };
    return await runLocked({ settings, cluster, leases, signer, identity, log, context, examine });
  } finally {
    lock.release();
  }
}

interface Prepared {
  readonly settings: ReturnType<typeof readSettings>;
  readonly cluster: Cluster;
  readonly leases: ClusterSettings;
  readonly signer: TxSigner;
  readonly identity: TlsIdentity;
  readonly log: Logger;
  readonly context: CliContext;
  readonly examine: Examine | undefined;
}

/** A stop is heard from the beginning: parts started by then end with it. */
async function runLocked(prepared: Prepared): Promise<number> {
  const stop = stopRequested();
  const stopping = new AbortController();
  void stop.received.then(() => stopping.abort());
  try {
    return await runUntil(stop.received, stopping.signal, prepared);
  } catch (error) {
    if (stopping.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    stop.forget();
  }
}

async function runUntil(stop: Promise<unknown>, signal: AbortSignal, prepared: Prepared): Promise<number> {
  const { settings, cluster, leases, signer, identity, log, context, examine } = prepared;
  const { kind, version, address } = await cluster.find();
  log.info("cluster found", { kind, version, address });
  // A cluster that carries ports and host names itself leaves nothing to a process of our own.
  const plane = cluster.capabilities.carriesTraffic ? undefined : await openPlane(settings, log);
  const driver = await openDriver({ cluster, leases, address, plane, log, signal });
  try {
    const config = { ...settings, driver, ...(plane === undefined ? {} : { plane }) };
    const { chain: client, proven } = await context.partly();
    const records = proven === undefined ? {} : { proven: proven.query };
    const examination = examine && { examine: () => examine(context, signer.address) };
    const request = { config, client, ...records, signer, identity, version: VERSION, log, signal, ...examination };
    const provider = await runProvider(request).catch(async (error: unknown) => {
      // A provider that never ran leaves no process behind.
      await plane?.abandon();
      throw error;
    });
    const why = await Promise.race([stop, provider.failed]);
    log.info("stopping", { why: errorText(why) });
    await provider.stop();
    if (why instanceof Error) throw why;
    return EXIT.done;
  } finally {
    await driver.close();
    await plane?.close();
  }
}

interface DriverWish {
  readonly cluster: Cluster;
  readonly leases: ClusterSettings;
  readonly address: string;
  readonly plane: PlaneLink | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A stop does not wait for a cluster that does not answer. */
async function openDriver({ cluster, leases, address, plane, log, signal }: DriverWish): Promise<ClusterDriver> {
  const carrier = plane === undefined ? {} : { carrier: plane.carrier };
  const program = { command: process.execPath, args: [process.argv[1] ?? ""] };
  const settings = {
    ...leases,
    ...carrier,
    program,
    address,
    log: log.child({ module: "provider-cluster" }),
  };
  try {
    signal.throwIfAborted();
    const opening = cluster.open(settings);
    return await unlessAborted(opening, signal).catch((error) => {
      // A driver that opens all the same is closed.
      if (signal.aborted) opening.then((driver) => driver.close()).catch(() => {});
      throw error;
    });
  } catch (error) {
    await plane?.abandon();
    throw error;
  }
}

/** Finds the data plane of the provider's folder, or starts this program as one. */
function openPlane(config: Pick<ProviderConfig, "stateDir" | "ingress">, log: Logger): Promise<PlaneLink> {
  const { stateDir, ingress } = config;
  const { host, port, loopbackPorts, clients, routesFile } = ingress;
  const tls = ingressTls(config);
  const gateway = browserGateway(config);
  const settings: PlaneSettings = {
    ingress: {
      host,
      port,
      loopbackPorts,
      connectionsPerAddress: clients.connectionsPerAddress,
      trustedProxies: networkTexts(clients.trustedProxies),
      forwardedFrom: networkTexts(clients.forwardedFrom),
      ...(tls === undefined ? {} : { tls }),
      ...(gateway === undefined ? {} : { gateway }),
      ...(routesFile === undefined ? {} : { routesFile }),
    },
  };
  const main = process.argv[1] ?? "";
  const program = {
    command: process.execPath,
    args: [main, PLANE_WORD, stateDir],
    identity: identityOf(main, settings),
  };
  return PlaneLink.open({ stateDir, settings, program, log: log.child({ module: "data-plane" }) });
}

/** The built entry names its files by their contents, so its text identifies the whole program. */
function identityOf(main: string, settings: PlaneSettings): string {
  const hash = createHash("sha256").update(readFileSync(main)).update(JSON.stringify(settings));
  return `${VERSION} ${process.version} ${hash.digest("hex").slice(0, 16)}`;
}
