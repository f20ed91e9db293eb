import { existsSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Cluster, type ControlState, tryHost } from "../../../provider/index.ts";
import { isFree, tryPort } from "../../../util/servers/index.ts";
import type { Flags } from "../../command/flags.ts";
import { homeOf } from "../../command/home.ts";
import { providerDir, readClusterSettings } from "../run/config.ts";
import type { ListenAddress } from "../run/parsers.ts";
import { type Check, Fault, leaseCount, Unknown } from "./finding.ts";
import { resolveName } from "./gateway.ts";

/** Numbers of ports that a detail shows. */
const SHOWN_PORTS = 4;

/** The provider that runs in the home, if one does. */
export type Running = () => Promise<ControlState | undefined>;

/** Whether the provider runs, and whether it bids. */
export function runningCheck(running: Running): Check {
  return {
    name: "provider",
    fix: "start it: svc provider run",
    async look() {
      const state = await running();
      if (state === undefined) throw new Error("it is not running");
      const [obstacle] = state.obstacles;
      if (obstacle !== undefined)
        throw new Fault(
          `it does not bid: ${obstacle}`,
          state.draining ? "svc provider drain --undo" : "fix what the reason names",
        );
      return `it bids; ${leaseCount(state.leases)} since ${state.started_at}`;
    },
  };
}

/** Milliseconds: less than a check may take, so that the trial is gone when the check ends. */
const TRIAL_MS = 12_000;
/** Below the provider's folder; it goes with the check. */
const FOLDER = "check";

/** Whether a container runs here, if the cluster lets one be tried: a running provider has tried it, else one is tried now. */
export function containerChecks(cluster: Cluster, flags: Flags, running: Running): Check[] {
  if (!cluster.capabilities.tries) return [];
  const fix = "look at the log of the container engine";
  return [{ name: "container", fix, look: async () => (await tried(running)) ?? tryNow(cluster, flags) }];
}

/** Findings of the running provider; undefined if none runs. */
async function tried(running: Running): Promise<string | undefined> {
  const state = await running();
  if (state === undefined) return undefined;
  const { probe, obstacles } = state;
  if (probe === "passed") return "one runs and answers, the running provider has tried it";
  const [obstacle = ""] = obstacles;
  if (probe === "failed") throw new Fault(obstacle, "fix what the reason names; the provider tries again by itself");
  throw new Unknown("the running provider is still trying one");
}

async function tryNow(cluster: Cluster, flags: Flags): Promise<string> {
  const { address } = await cluster.find().catch(() => {
    throw new Unknown("the cluster does not answer");
  });
  const stateDir = join(providerDir(homeOf(flags)), FOLDER);
  const driver = await cluster.open({ ...readClusterSettings(flags), stateDir, address });
  try {
    const fault = await tryHost(driver, { provider: "svc-check", timeoutMs: TRIAL_MS });
    if (fault !== undefined) throw new Fault(fault.text, "fix what the reason names");
    return "one runs and answers through an ingress";
  } finally {
    await driver.purge().catch(() => {});
    await driver.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Whether the disk of the folder has the room that bids take. */
export function diskCheck(folder: string, least: bigint): Check {
  return {
    name: "disk",
    fix: "make room, or set --provider-least-free-disk",
    async look() {
      const { bavail, bsize } = statfsSync(existing(folder), { bigint: true });
      const text = `${(bavail * bsize) >> 20n} MiB free at ${folder}`;
      if (bavail * bsize < least) throw new Error(`${text}, less than ${least >> 20n} MiB`);
      return text;
    },
  };
}

/** The folder itself, or the nearest one above it. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

export interface PortWish extends ListenAddress {
  readonly name: string;
  readonly option: string;
}

/** Whether a port can be listened on; a provider that runs has to hold it. */
export function portCheck({ name, host, port, option }: PortWish, running: Running): Check {
  return {
    name,
    fix: `choose another one with ${option}`,
    async look() {
      if ((await running()) !== undefined) return heldPort({ host, port, option });
      await tryPort({ host, port, option });
      return `${host}:${port} is free`;
    },
  };
}

/** Ports that leases get. */
export interface NodePorts {
  readonly range: { readonly first: number; readonly last: number };
  readonly host: string;
  /** How many leases may have at most. */
  readonly wanted: number;
}

/** Whether other programs leave enough of the range; a running provider has some ports itself. */
export function nodePortsCheck({ range: { first, last }, host, wanted }: NodePorts, running: Running): Check {
  const option = "--cluster-node-port-range";
  return {
    name: "node ports",
    fix: `choose another range with ${option}, or fewer with --cluster-node-port-quantity`,
    async look() {
      const text = `${first}-${last} on ${host}`;
      if ((await running()) !== undefined) return `${text}, as the running provider needs them`;
      const taken: number[] = [];
      for (let port = first; port <= last; port++) {
        if (!(await isFree({ host, port, option }))) taken.push(port);
      }
      const free = last - first + 1 - taken.length;
      const others = taken.length === 0 ? "" : `; other programs have ${taken.slice(0, SHOWN_PORTS).join(", ")}`;
      if (free < wanted) throw new Error(`${free} of ${text} are free, leases may have ${wanted}${others}`);
      return `${free} of ${text} are free${others}`;
    },
  };
}

/** Whether `svc provider run` would take the settings. */
export function settingsCheck(read: () => void): Check {
  return {
    name: "settings",
    fix: "correct it",
    async look() {
      read();
      return "svc provider run takes them";
    },
  };
}

/** With other flags than the running provider's, the check would otherwise approve a port that is not available. */
async function heldPort(place: ListenAddress & { readonly option: string }): Promise<string> {
  const text = `${place.host}:${place.port}`;
  if (!(await isFree(place))) return `${text} is in use, as by the running provider`;
  const fix = `check with the flags or variables that the provider runs with; here: ${place.option}`;
  throw new Fault(`nothing listens on ${text}, although the provider runs`, fix);
}

/** Any name below the domain: tenants get such names. */
const PROBE = "svc-check";

/** Whether names of tenants resolve. */
export function domainCheck(domain: string): Check {
  return {
    name: "ingress domain",
    fix: `make a DNS record for *.${domain}, or name another domain with --deployment-ingress-domain`,
    look: () => resolveName(`${PROBE}.${domain}`),
  };
}
