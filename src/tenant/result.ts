import type { DeploymentRecord } from "../client/index.ts";
import type { Manifest } from "../sdl/index.ts";
import { formatDecShort } from "../util/index.ts";
import type { Running } from "./ready/addresses.ts";
import type { PortState } from "./session/gateway.ts";
import { hostOf } from "./session/offer.ts";
import type { StepTime } from "./session/progress.ts";
import type { Session } from "./session/session.ts";

/** A deployment that runs. This is also the form of `-o json`; amounts and 64-bit numbers are texts. */
export interface DeployResult {
  readonly dseq: string;
  readonly owner: string;
  readonly groups: readonly { readonly gseq: number; readonly name: string; readonly state: string }[];
  readonly leases: readonly LeaseResult[];
  readonly services: readonly ServiceResult[];
  /** HTTP addresses that answered; with `ready_by`, all that the provider names. */
  readonly uris: readonly string[];
  readonly ports: readonly PortResult[];
  /** In the order in which they were done, milliseconds. */
  readonly steps: readonly StepTime[];
  /** The services are ready by the word of their providers alone: nothing has asked them from outside. */
  readonly ready_by?: "provider";
}

/** A lease of the deployment and its price per block. */
export interface LeaseResult {
  readonly gseq: number;
  readonly oseq: number;
  readonly provider: string;
  /** `host:port` of the provider's gateway. */
  readonly host: string;
  /** Per block, a decimal. */
  readonly price: { readonly denom: string; readonly amount: string };
}

/** A service of a lease with its replicas. */
export interface ServiceResult {
  readonly name: string;
  readonly gseq: number;
  readonly provider: string;
  readonly available: number;
  readonly total: number;
  /** Every HTTP address, including names that do not resolve to the provider yet. */
  readonly uris: readonly string[];
}

/** A port that is open on the provider's host. */
export interface PortResult {
  readonly service: string;
  readonly host: string;
  /** Port on that host. */
  readonly port: number;
  /** Port that the deployment file names. */
  readonly external_port: number;
  readonly proto: string;
}

interface Ended {
  readonly deployment: DeploymentRecord;
  readonly running: readonly Running[];
  readonly session: Session;
}

export function deployResult({ session, deployment, running }: Ended): DeployResult {
  const { market, request, progress, probe } = session;
  return {
    dseq: deployment.dseq.toString(),
    owner: market.owner,
    groups: deployment.groups.map(({ gseq, state, spec }) => ({ gseq, name: spec.name, state })),
    leases: running.map(leaseResult),
    services: running.flatMap(serviceResults),
    uris: running.flatMap(({ open }) => [...open.values()].flat()),
    ports: running.flatMap((each) => portResults(each, request.sdl.manifest)),
    steps: progress.steps,
    ...(probe === undefined ? { ready_by: "provider" } : {}),
  };
}

function leaseResult({ lease, provider }: Running): LeaseResult {
  const { id, price } = lease;
  return {
    gseq: id.gseq,
    oseq: id.oseq,
    provider: id.provider,
    host: hostOf(provider.hostUri),
    price: { denom: price.denom, amount: formatDecShort(price.amount) },
  };
}

function serviceResults({ lease, state }: Running): ServiceResult[] {
  const { gseq, provider } = lease.id;
  return state.services.map(({ name, available, total, urls }) => ({
    name,
    gseq,
    provider,
    available,
    total,
    uris: urls,
  }));
}

function portResults({ state }: Running, manifest: Manifest): PortResult[] {
  return state.ports.map(({ service, host, port, containerPort, proto }) => ({
    service,
    host,
    port,
    external_port: namedPort(manifest, { service, containerPort, proto }),
    proto,
  }));
}

/** The port in `as` of an expose entry, or the container's own. */
function namedPort(
  manifest: Manifest,
  { service, containerPort, proto }: Pick<PortState, "service" | "containerPort" | "proto">,
): number {
  const services = manifest.flatMap((group) => group.services).filter(({ name }) => name === service);
  const found = services
    .flatMap(({ expose }) => expose)
    .find((expose) => expose.port === containerPort && expose.proto === proto && expose.global);
  return found?.externalPort || containerPort;
}

/** Addresses one a line, for standard output: `http://...`, `tcp://host:port`. */
export function addressLines({ uris, ports }: Pick<DeployResult, "uris" | "ports">): string {
  const lines = [...uris, ...ports.map(({ host, port, proto }) => `${proto.toLowerCase()}://${host}:${port}`)];
  return lines.map((line) => `${line}\n`).join("");
}
