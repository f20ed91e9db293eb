import type {
  Attribute,
  Manifest,
  ManifestResources,
  ManifestService,
  ManifestServiceParams,
  ManifestStorage,
} from "../manifest.ts";
import type { ComputeDecl, ParamsDecl, VolumeDecl } from "../model.ts";
import type { GroupPlan, ServicePlan } from "./plan.ts";

/** The manifest of the planned groups. */
export function deriveManifest(groups: readonly GroupPlan[]): Manifest {
  return groups.map(({ placement, services }) => ({ name: placement.name, services: services.map(manifestService) }));
}

function manifestService(plan: ServicePlan): ManifestService {
  const { service } = plan;
  return {
    name: service.name,
    image: service.image,
    command: service.command,
    args: service.args,
    env: service.env,
    resources: manifestResources(plan),
    count: plan.count,
    expose: plan.expose,
    ...(service.params === undefined ? {} : { params: manifestParams(service.params) }),
    credentials: service.credentials,
  };
}

function manifestResources({ unitId, compute, endpoints }: ServicePlan): ManifestResources {
  return {
    id: unitId,
    cpu: { units: { val: `${compute.cpu}` }, ...optional(compute.cpuAttributes) },
    memory: { size: { val: `${compute.memory}` } },
    storage: compute.volumes.map(manifestStorage),
    gpu: { units: { val: `${compute.gpu}` }, ...optional(compute.gpuAttributes) },
    endpoints,
  };
}

function manifestStorage(volume: VolumeDecl): ManifestStorage {
  return { name: volume.name, size: { val: `${volume.size}` }, ...optional(volume.attributes) };
}

function optional(attributes: ComputeDecl["cpuAttributes"]): { readonly attributes?: readonly Attribute[] } {
  return attributes.length === 0 ? {} : { attributes };
}

function manifestParams({ mounts, permissions, tee }: ParamsDecl): ManifestServiceParams {
  const storage = mounts.map(({ volume, mount, readOnly }) => ({ name: volume, mount, readOnly }));
  return {
    storage: storage.length === 0 ? null : storage,
    ...(permissions === undefined ? {} : { permissions: { read: permissions } }),
    ...(tee === undefined ? {} : { tee }),
  };
}
