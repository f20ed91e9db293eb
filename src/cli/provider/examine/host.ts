import { existsSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { ControlState } from "../../../provider/index.ts";
import { errorText, listenError } from "../../../util/index.ts";
import { type ChosenKind, findCluster } from "../run/cluster.ts";
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

const CLUSTER_FIX = {
  engine: "start the container engine (systemctl enable --now podman.socket), or name its socket with --cluster-engine",
  orchestrator: "make kubectl get nodes work with the same file, or name another with --clusterconfig",
} as const;

/** Whether the cluster answers. */
export function clusterCheck(chosen: ChosenKind): Check {
  return {
    name: "cluster",
    fix: chosen.kind.orchestrator ? CLUSTER_FIX.orchestrator : CLUSTER_FIX.engine,
    async look() {
      const found = await findCluster(chosen);
      return `${found.kind} ${found.version} at ${found.address}`;
    },
  };
}

/** Whether the cluster has what a provider needs on it, for clusters that are prepared first. */
export function installationChecks({ kind, address }: ChosenKind): Check[] {
  const { installation } = kind;
  if (installation === undefined) return [];
  return [
    {
      name: "cluster installation",
      fix: "svc provider cluster install",
      async look() {
        const lacking = await installation.lacks(address).catch((error: unknown) => {
          throw new Unknown(`the cluster cannot be queried: ${errorText(error)}`);
        });
        if (lacking !== undefined) throw new Fault(lacking, "svc provider cluster install");
        return "kinds of objects, namespaces and rights are there";
      },
    },
  ];
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

/** Whether other programs leave enough of the range; a provider that runs has some of them itself. */
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

/** Whoever asks with other flags than the provider runs with would otherwise read that all is well with a port that it does not have. */
async function heldPort(place: ListenAddress & { readonly option: string }): Promise<string> {
  const text = `${place.host}:${place.port}`;
  if (!(await isFree(place))) return `${text} is in use, as by the running provider`;
  const fix = `check with the flags or variables that the provider runs with; here: ${place.option}`;
  throw new Fault(`nothing listens on ${text}, although the provider runs`, fix);
}

function isFree(place: ListenAddress & { readonly option: string }): Promise<boolean> {
  return tryPort(place).then(
    () => true,
    () => false,
  );
}

function tryPort(place: ListenAddress & { readonly option: string }): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, place)));
    server.listen(place.port, place.host, () => server.close(() => resolve()));
  });
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
