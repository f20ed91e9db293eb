import { type PORTS, shiftedPorts } from "../../util/index.ts";
import { isFree } from "../../util/servers/index.ts";
import { commandError, usageError } from "../errors.ts";

/** Every port of one localnet. */
export type LocalnetPorts = Readonly<Record<keyof typeof PORTS, number>> & {
  /** First port of the range for node ports of leases. */
  readonly nodePortFirst: number;
  readonly nodePortLast: number;
};

const STEP = 100;
const NODE_PORT_FIRST = 30_000;
const NODE_PORTS = 1000;
/** Above this offset no node ports are left. */
const MAX_OFFSET = Math.floor((65_536 - NODE_PORT_FIRST) / NODE_PORTS - 1) * STEP;

/** The default ports shifted by the offset; each localnet also has a range of node ports to itself. */
export function localnetPorts(offset: number): LocalnetPorts {
  if (offset % STEP !== 0 || offset > MAX_OFFSET) {
    throw usageError(`--port-offset takes a multiple of ${STEP} up to ${MAX_OFFSET}, not ${offset}`);
  }
  const nodePortFirst = NODE_PORT_FIRST + (offset / STEP) * NODE_PORTS;
  return {
    ...shiftedPorts(offset),
    nodePortFirst,
    nodePortLast: nodePortFirst + NODE_PORTS - 1,
  };
}

/** Node ports of each localnet out of the range of clusters, 30000 to 32767. */
const CLUSTER_NODE_PORTS = 79;

/** The node ports of a localnet on a cluster; each offset has others. */
export function clusterNodePorts(offset: number): string {
  const first = NODE_PORT_FIRST + (offset / STEP) * CLUSTER_NODE_PORTS;
  return `${first}-${first + CLUSTER_NODE_PORTS - 1}`;
}

/** The ports of a localnet's listeners, with their names. */
const LISTENERS = [
  ["rpc", "JSON-RPC"],
  ["rest", "REST"],
  ["grpc", "gRPC"],
  ["gateway", "the provider's gateway"],
  ["ingressHttp", "the ingress"],
  ["ingressHttps", "the ingress with TLS"],
  ["net", "the network files"],
] as const;

/** Reports a port that is taken before anything is started, with an offset at which all are free. */
export async function requireFreePorts(offset: number): Promise<void> {
  const taken = await takenPort(localnetPorts(offset));
  if (taken === undefined) return;
  throw commandError(`port ${taken.port}, needed for ${taken.what}, is used by another program`, {
    hint: await otherPorts(offset),
  });
}

async function otherPorts(offset: number): Promise<string> {
  for (let other = offset + STEP; other <= MAX_OFFSET; other += STEP) {
    if ((await takenPort(localnetPorts(other))) === undefined)
      return `stop it, or use other ports: --port-offset ${other}`;
  }
  return "stop it, or use other ports with a smaller --port-offset";
}

async function takenPort(ports: LocalnetPorts): Promise<{ port: number; what: string } | undefined> {
  for (const [name, what] of LISTENERS) {
    const port = ports[name];
    const place = { host: "127.0.0.1", port, option: "--port-offset" };
    if (!(await isFree(place))) return { port, what };
  }
  return undefined;
}
