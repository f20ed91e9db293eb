import type { ManifestService } from "../../../../sdl/index.ts";
import { type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import { isRegistryHost } from "../../shared/index.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { credentialsName, leaseLabels } from "./names.ts";
import type { ObjectSettings } from "./settings.ts";

/** Under this name nodes look for what Docker Hub takes. */
const HUB = "https://index.docker.io/v1/";

/** With which nodes fetch the image of a service that names credentials. */
export function credentialObjects(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings): Wanted[] {
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
