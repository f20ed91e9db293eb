import type { ManifestService } from "../../../../sdl/index.ts";
import { type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import { type Holding, isRegistryHost } from "../../shared/index.ts";
import { addressObjects } from "./addresses.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { credentialsName, leaseLabels } from "./names.ts";
import { workload } from "./pod/workload.ts";
import { networkPolicies } from "./policies.ts";
import { serviceObjects } from "./services.ts";
import type { ObjectSettings } from "./settings.ts";
import { quotaObject } from "./space.ts";

/** How the services of a lease are run besides what their manifest says. */
export interface LeaseRun {
  /** How often the tenant had a service started again, by its name. */
  readonly restarts: Readonly<Record<string, number>>;
  readonly suspended: boolean;
  /** Replicas that a service has for now, by its name, where these are not all that the manifest asks for. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** Addresses that the lease has. */
  readonly held?: readonly Holding[];
}

/** All objects in the namespace of a lease, in the order of their creation: limits come before workloads. */
export function leaseObjects(
  spec: LeaseSpec,
  settings: ObjectSettings,
  { restarts, suspended, replicas = {}, held = [] }: LeaseRun,
): Wanted[] {
  const { services } = spec.group;
  return [
    quotaObject(spec, settings),
    ...networkPolicies(spec, settings),
    ...services.flatMap((service) => credentialObjects(spec, service, settings)),
    ...services.flatMap((service) => serviceObjects(spec, service, settings)),
    ...addressObjects(spec, held, settings),
    ...services.map((service) =>
      workload(spec, service, settings, {
        restarts: restarts[service.name] ?? 0,
        replicas: suspended ? 0 : (replicas[service.name] ?? service.count),
      }),
    ),
  ];
}

/** The name under which nodes look for credentials of Docker Hub. */
const HUB = "https://index.docker.io/v1/";

/** With which nodes fetch the image of a service that names credentials. */
function credentialObjects(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings): Wanted[] {
  if (service.credentials === null) return [];
  const { host, email, username, password } = service.credentials;
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const registry = isRegistryHost(host, "docker.io") ? HUB : host;
  const auths = { [registry]: { username, password, ...(email === "" ? {} : { email }), auth } };
  const metadata = {
    name: credentialsName(service.name),
    namespace: leaseNamespace(spec.id),
    labels: leaseLabels(settings.provider, spec.id),
  };
  const data = { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") };
  return [wanted(KIND.secret, metadata, { type: "kubernetes.io/dockerconfigjson", data })];
}
