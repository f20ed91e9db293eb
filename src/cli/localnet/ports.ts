import { PORT_STEP, type PORTS, shiftedPorts } from "../../util/index.ts";
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

/** One of the nodes or of the providers of a localnet. */
export interface Member {
  readonly index: number;
  readonly count: number;
}

/** Most nodes, and most providers: the ports of another localnet come after theirs. */
export const MAX_MEMBERS = STEP / PORT_STEP;
const ONLY: Member = { index: 0, count: 1 };

/** The default ports shifted by the offset; each localnet also has a range of node ports, and each provider a part of it. */
export function localnetPorts(offset: number, member = ONLY): LocalnetPorts {
  if (offset % STEP !== 0 || offset > MAX_OFFSET) {
    throw usageError(`--port-offset takes a multiple of ${STEP} up to ${MAX_OFFSET}, not ${offset}`);
  }
  const [nodePortFirst, nodePortLast] = partOf(NODE_PORT_FIRST + (offset / STEP) * NODE_PORTS, NODE_PORTS, member);
  return { ...shiftedPorts(offset + member.index * PORT_STEP), nodePortFirst, nodePortLast };
}

function partOf(first: number, size: number, { index, count }: Member): [first: number, last: number] {
  const each = Math.floor(size / count);
  return [first + index * each, first + (index + 1) * each - 1];
}

/** Node ports of each localnet out of the range of clusters, 30000 to 32767. */
const CLUSTER_NODE_PORTS = 79;

/** The node ports of a provider of a localnet on a cluster; each offset has others. */
export function clusterNodePorts(offset: number, member = ONLY): string {
  return partOf(NODE_PORT_FIRST + (offset / STEP) * CLUSTER_NODE_PORTS, CLUSTER_NODE_PORTS, member).join("-");
}

/** The ports of listeners, with their names. Only nodes of several listen for others. */
const NODE_LISTENERS = [
  ["rpc", "JSON-RPC"],
  ["rest", "REST"],
  ["grpc", "gRPC"],
] as const;
const PEER_LISTENER = ["p2p", "other nodes"] as const;
const PROVIDER_LISTENERS = [
  ["gateway", "the provider's gateway"],
  ["ingressHttp", "the ingress"],
  ["ingressHttps", "the ingress with TLS"],
] as const;
const NET_LISTENER = ["net", "the network files"] as const;

/** How many nodes and providers a localnet has. */
export interface LocalnetSize {
  readonly validators: number;
  readonly providers: number;
}

interface Listener {
  readonly port: number;
  readonly what: string;
}

function listenersOf(offset: number, { validators, providers }: LocalnetSize): Listener[] {
  const listeners = (names: readonly (readonly [keyof typeof PORTS, string])[], index: number): Listener[] => {
    const ports = localnetPorts(offset, { index, count: index + 1 });
    return names.map(([name, what]) => ({ port: ports[name], what: index === 0 ? what : `${what} (${index + 1})` }));
  };
  const ofNode = validators > 1 ? [...NODE_LISTENERS, PEER_LISTENER] : NODE_LISTENERS;
  return [
    ...Array.from({ length: validators }, (_, i) => listeners(ofNode, i)),
    ...Array.from({ length: providers }, (_, i) => listeners(PROVIDER_LISTENERS, i)),
    listeners([NET_LISTENER], 0),
  ].flat();
}

/** Reports a port that is taken before anything is started, with an offset at which all are free. */
export async function requireFreePorts(offset: number, size: LocalnetSize = { validators: 1, providers: 1 }) {
  const taken = await takenPort(listenersOf(offset, size));
  if (taken === undefined) return;
  throw commandError(`port ${taken.port}, needed for ${taken.what}, is used by another program`, {
    hint: await otherPorts(offset, size),
  });
}

async function otherPorts(offset: number, size: LocalnetSize): Promise<string> {
  for (let other = offset + STEP; other <= MAX_OFFSET; other += STEP) {
    if ((await takenPort(listenersOf(other, size))) === undefined)
      return `stop it, or use other ports: --port-offset ${other}`;
  }
  return "stop it, or use other ports with a smaller --port-offset";
}

async function takenPort(listeners: readonly Listener[]): Promise<Listener | undefined> {
  for (const { port, what } of listeners) {
    const place = { host: "127.0.0.1", port, option: "--port-offset" };
    if (!(await isFree(place))) return { port, what };
  }
  return undefined;
}
