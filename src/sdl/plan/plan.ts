import type { ManifestEndpoint, ManifestExpose } from "../manifest.ts";
import type {
  ComputeDecl,
  DeploymentDecl,
  ExposeDecl,
  PlacementDecl,
  PriceDecl,
  SdlFile,
  ServiceDecl,
  ToDecl,
} from "../model.ts";
import { compare } from "../text.ts";

/** Equal replicas of one group: a row of the order on the chain. */
export interface UnitPlan {
  /** Counted from 1 within the group. */
  readonly id: number;
  readonly compute: ComputeDecl;
  readonly price: PriceDecl;
  readonly count: number;
  readonly endpoints: readonly ManifestEndpoint[];
}

export interface ServicePlan {
  readonly unitId: number;
  readonly service: ServiceDecl;
  readonly compute: ComputeDecl;
  readonly count: number;
  /** Sorted by audience, port, protocol, public ones first; equal ones keep the order of the file. */
  readonly expose: readonly ManifestExpose[];
  /** In the order of the file. */
  readonly endpoints: readonly ManifestEndpoint[];
}

/** Everything that runs in one placement; one provider takes it whole. */
export interface GroupPlan {
  readonly placement: PlacementDecl;
  readonly units: readonly UnitPlan[];
  /** Sorted by name. */
  readonly services: readonly ServicePlan[];
}

/**
 * Divides a file whose references are checked into groups, sorted by name. Version 2.0 makes one unit per service,
 * version 2.1 one per compute profile.
 */
export function planGroups(file: SdlFile): readonly GroupPlan[] {
  const numbers = endpointNumbers(file);
  const builders = new Map<string, GroupBuilder>();
  for (const deployment of file.deployments) {
    const parts = resolve(file, deployment);
    if (parts === undefined) continue;
    const builder = builders.get(deployment.placement) ?? new GroupBuilder(file, parts.placement);
    builders.set(deployment.placement, builder);
    builder.add({ ...parts, count: deployment.count, expose: manifestExposes(parts.service, numbers) });
  }
  return [...builders.values()]
    .map((builder) => builder.plan())
    .sort((a, b) => compare(a.placement.name, b.placement.name));
}

interface Parts {
  readonly service: ServiceDecl;
  readonly compute: ComputeDecl;
  readonly placement: PlacementDecl;
  readonly price: PriceDecl;
}

function resolve(file: SdlFile, deployment: DeploymentDecl): Parts | undefined {
  const service = file.services.get(deployment.service);
  const compute = file.compute.get(deployment.profile);
  const placement = file.placements.get(deployment.placement);
  const price = placement?.pricing.get(deployment.profile);
  return service && compute && placement && price ? { service, compute, placement, price } : undefined;
}

class GroupBuilder {
  readonly #merge: boolean;
  readonly #placement: PlacementDecl;
  readonly #units: UnitPlan[] = [];
  readonly #services: ServicePlan[] = [];

  constructor(file: SdlFile, placement: PlacementDecl) {
    this.#merge = file.version === "2.1";
    this.#placement = placement;
  }

  add(part: Parts & { readonly count: number; readonly expose: readonly ManifestExpose[] }): void {
    const { service, compute, count, expose, price } = part;
    const endpoints = expose.flatMap(exposeEndpoints);
    const shared = this.#merge ? this.#units.findIndex((unit) => unit.compute === compute) : -1;
    const known = this.#units[shared];
    const unit =
      known === undefined
        ? { id: this.#units.length + 1, compute, price, count, endpoints }
        : { ...known, count: known.count + count, endpoints: sortEndpoints([...known.endpoints, ...endpoints]) };
    if (known === undefined) this.#units.push(unit);
    else this.#units[shared] = unit;
    const sorted = [...expose].sort(compareExposes);
    this.#services.push({ unitId: unit.id, service, compute, count, expose: sorted, endpoints });
  }

  plan(): GroupPlan {
    return { placement: this.#placement, units: this.#units, services: this.#services };
  }
}

function sortEndpoints(endpoints: readonly ManifestEndpoint[]): readonly ManifestEndpoint[] {
  return [...endpoints].sort((a, b) => a.sequence_number - b.sequence_number);
}

/**
 * Numbers of leased addresses: their names sorted and counted from 1, each use counted, the last number of a name
 * standing for it.
 */
function endpointNumbers(file: SdlFile): ReadonlyMap<string, number> {
  const services = new Set(file.deployments.map((deployment) => deployment.service));
  const uses = [...services].flatMap((name) =>
    (file.services.get(name)?.expose ?? []).flatMap((expose) => expose.to.map((target) => target.ip)),
  );
  const names = uses.filter((ip) => ip !== "").sort();
  return new Map(names.map((name, index) => [name, index + 1]));
}

/** One expose per audience, in the order of the file; none for an entry without an audience. */
function manifestExposes(service: ServiceDecl, numbers: ReadonlyMap<string, number>): readonly ManifestExpose[] {
  return service.expose.flatMap((expose) => expose.to.map((target) => manifestExpose(expose, target, numbers)));
}

function manifestExpose(expose: ExposeDecl, target: ToDecl, numbers: ReadonlyMap<string, number>): ManifestExpose {
  return {
    port: expose.port,
    externalPort: expose.externalPort,
    proto: expose.proto,
    service: target.service,
    global: target.global,
    hosts: expose.hosts.length === 0 ? null : expose.hosts.map(({ name }) => name),
    httpOptions: expose.httpOptions,
    ip: target.ip,
    endpointSequenceNumber: numbers.get(target.ip) ?? 0,
  };
}

/** The order in which a manifest lists exposes. */
export function compareExposes(a: ManifestExpose, b: ManifestExpose): number {
  return (
    compare(a.service, b.service) || a.port - b.port || compare(a.proto, b.proto) || Number(b.global) - Number(a.global)
  );
}

const HTTP_PORT = 80;

/** Whether the ingress serves it under host names. */
export function isHttpExpose(expose: ManifestExpose): boolean {
  return expose.global && expose.proto === "TCP" && (expose.externalPort || expose.port) === HTTP_PORT;
}

export const ENDPOINT_KINDS = { sharedHttp: 0, randomPort: 1, leasedIp: 2 } as const;

/** Endpoints that a public expose needs at the provider. */
export function exposeEndpoints(expose: ManifestExpose): readonly ManifestEndpoint[] {
  if (!expose.global) return [];
  const own: ManifestEndpoint = isHttpExpose(expose)
    ? { sequence_number: 0 }
    : { kind: ENDPOINT_KINDS.randomPort, sequence_number: 0 };
  if (expose.ip === "") return [own];
  return [own, { kind: ENDPOINT_KINDS.leasedIp, sequence_number: expose.endpointSequenceNumber }];
}
