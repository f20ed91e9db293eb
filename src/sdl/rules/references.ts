import { didYouMean } from "../../util/index.ts";
import { show } from "../errors.ts";
import type { ComputeDecl, DeploymentDecl, ExposeDecl, SdlFile, ServiceDecl } from "../model.ts";
import type { Place, Report } from "../report.ts";

/** Checks everything in a deployment file that names something elsewhere in it, or must differ from it. */
export function checkReferences(file: SdlFile, report: Report): void {
  const checker = new ReferenceChecker(file, report);
  for (const deployment of file.deployments) checker.deployment(deployment);
  for (const service of file.services.values()) checker.service(service);
  checker.hosts();
  checker.endpoints();
  checker.unused();
}

class ReferenceChecker {
  readonly #file: SdlFile;
  readonly #report: Report;

  constructor(file: SdlFile, report: Report) {
    this.#file = file;
    this.#report = report;
  }

  deployment(deployment: DeploymentDecl): void {
    const service = this.#named(this.#file.services, deployment.service, ["service", deployment.servicePlace]);
    const compute = this.#named(this.#file.compute, deployment.profile, ["compute profile", deployment.profilePlace]);
    const placement = this.#named(this.#file.placements, deployment.placement, ["placement", deployment.place]);
    if (compute !== undefined && placement?.pricing.has(deployment.profile) === false) {
      this.#report.error(deployment.profilePlace, "reference", {
        problem: `placement ${show(placement.name)} has no price for profile ${show(deployment.profile)}`,
        remedy: `write pricing: {${deployment.profile}: {denom: utoken, amount: 100}} in the placement`,
      });
    }
    if (service !== undefined && compute !== undefined) this.#volumes(service, compute);
  }

  #named<T>(all: ReadonlyMap<string, T>, name: string, [what, place]: readonly [string, Place]): T | undefined {
    const found = all.get(name);
    if (found !== undefined) return found;
    const names = [...all.keys()];
    const otherwise = names.length === 0 ? `declare it` : `declare it, or use ${listed(names)}`;
    const problem = `there is no ${what} named ${show(name)}`;
    this.#report.error(place, "reference", { problem, remedy: didYouMean(name, names, otherwise) });
    return undefined;
  }

  #volumes(service: ServiceDecl, compute: ComputeDecl): void {
    const mounts = new Map(service.params?.mounts.map((mount) => [mount.volume, mount]));
    const names = compute.volumes.map(({ name }) => name);
    for (const mount of mounts.values()) {
      if (names.includes(mount.volume)) continue;
      this.#report.error(mount.place, "reference", {
        problem: `profile ${show(compute.name)} has no volume named ${show(mount.volume)}`,
        remedy: didYouMean(mount.volume, names, `add it to the storage of the profile, or use ${listed(names)}`),
      });
    }
    for (const volume of compute.volumes) {
      const mount = mounts.get(volume.name);
      if (volume.persistent && mount === undefined) {
        this.#report.error(volume.place, "reference", {
          problem: `volume ${show(volume.name)} is persistent, but service ${show(service.name)} mounts it nowhere`,
          remedy: `write params: {storage: {${volume.name}: {mount: /data}}} in the service`,
        });
      }
      if (volume.ram && mount?.readOnly === true) {
        const problem = `volume ${show(volume.name)} is of class ram and empty at start, but mounted read-only`;
        this.#report.error(mount.place, "value", { problem, remedy: "write readOnly: false" });
      }
    }
    this.#volumeWarnings(service, compute);
  }

  #volumeWarnings(service: ServiceDecl, compute: ComputeDecl): void {
    if (compute.volumes.length > MAX_USUAL_VOLUMES) {
      const problem = `${compute.volumes.length} volumes for service ${show(service.name)}`;
      const remedy = `providers usually take at most ${MAX_USUAL_VOLUMES}`;
      this.#report.warn(compute.place, "range", { problem, remedy });
    }
    const ram = compute.volumes.reduce((sum, volume) => sum + (volume.ram ? volume.size : 0n), 0n);
    if (ram > compute.memory) {
      const problem = `volumes of class ram are larger than the memory of profile ${show(compute.name)}`;
      this.#report.warn(compute.place, "range", {
        problem,
        remedy: "raise memory: what is written to them counts as memory",
      });
    }
  }

  service(service: ServiceDecl): void {
    this.#mounts(service);
    for (const expose of service.expose) this.#expose(service, expose);
    this.#ports(service);
  }

  #mounts(service: ServiceDecl): void {
    const seen = new Map<string, string>();
    for (const { mount, volume, place } of service.params?.mounts ?? []) {
      const path = mount.replace(/\/$/, "");
      const other = seen.get(path);
      seen.set(path, volume);
      if (other === undefined || path === "") continue;
      const problem = `${show(mount)} is also the place of volume ${show(other)}`;
      this.#report.error(place, "conflict", { problem, remedy: "mount each volume at its own path" });
    }
  }

  #expose(service: ServiceDecl, expose: ExposeDecl): void {
    if (expose.to.length === 0) {
      this.#report.warn(expose.place, "missing", {
        problem: `port ${expose.port} is open to nobody: the entry has no to:`,
        remedy: "write to: [{global: true}], to: [{service: NAME}], or to: [{global: false}] for all services",
      });
    }
    for (const target of expose.to) {
      if (target.service === service.name) {
        const problem = `service ${show(service.name)} is opened to itself`;
        this.#report.warn(target.place, "reference", { problem, remedy: "remove it: a service always reaches itself" });
      } else if (target.service !== "") {
        this.#named(this.#file.services, target.service, ["service", target.place]);
      }
      if (target.ip !== "") this.#named(this.#file.endpoints, target.ip, ["endpoint", target.place]);
    }
    const first = expose.hosts[0];
    if (first !== undefined && !isIngress(expose)) {
      const problem = "host names have no effect here: they are for HTTP on port 80 that is open to everybody";
      this.#report.warn(first.place, "value", {
        problem,
        remedy: "write as: 80 and to: [{global: true}], or remove accept:",
      });
    }
  }

  /** Two container ports cannot answer on one outer port of a service, unless host names tell them apart. */
  #ports(service: ServiceDecl): void {
    const seen = new Map<string, number>();
    for (const expose of service.expose.filter((each) => !isTold(each))) {
      const outer = expose.externalPort || expose.port;
      for (const ip of new Set(expose.to.map((target) => target.ip))) {
        const key = `${ip}/${outer}/${expose.proto}`;
        const other = seen.get(key) ?? expose.port;
        seen.set(key, other);
        if (other === expose.port) continue;
        const problem = `port ${outer}/${expose.proto} already leads to port ${other} of service ${show(service.name)}`;
        this.#report.error(expose.place, "conflict", { problem, remedy: "write another port with as:" });
      }
    }
  }

  hosts(): void {
    const seen = new Map<string, string>();
    for (const deployment of this.#file.deployments) {
      for (const expose of this.#file.services.get(deployment.service)?.expose ?? []) {
        for (const { name, place } of expose.hosts) {
          const owner = `service ${show(deployment.service)} in placement ${show(deployment.placement)}`;
          const other = seen.get(name);
          if (other !== undefined) {
            const problem = `host name ${show(name)} already belongs to ${other}`;
            this.#report.error(place, "conflict", { problem, remedy: "give each service and placement its own names" });
          }
          seen.set(name, owner);
        }
      }
    }
  }

  /** Leased addresses: each in use, and each port of an address used once. */
  endpoints(): void {
    const ports = new Map<string, string>();
    const used = new Set<string>();
    for (const service of this.#deployedServices()) {
      for (const expose of service.expose) {
        for (const { ip, place } of expose.to.filter((target) => target.ip !== "")) {
          used.add(ip);
          const key = `${ip}:${expose.externalPort || expose.port}/${expose.proto}`;
          const other = ports.get(key);
          ports.set(key, service.name);
          if (other === undefined) continue;
          const problem = `${key} is already in use by service ${show(other)}`;
          this.#report.error(place, "conflict", { problem, remedy: "use another port or another endpoint" });
        }
      }
    }
    for (const [name, place] of this.#file.endpoints) {
      if (used.has(name)) continue;
      const remedy = `write ip: ${name} next to global: true, or remove the endpoint`;
      this.#report.error(place, "reference", { problem: `endpoint ${show(name)} is never used`, remedy });
    }
  }

  #deployedServices(): readonly ServiceDecl[] {
    const names = new Set(this.#file.deployments.map((deployment) => deployment.service));
    return [...names].flatMap((name) => this.#file.services.get(name) ?? []);
  }

  unused(): void {
    const services = new Set(this.#file.deployments.map((deployment) => deployment.service));
    for (const service of this.#file.services.values()) {
      if (!services.has(service.name))
        this.#unused(service.place, `service ${show(service.name)} is not in deployment:`);
    }
    const profiles = new Set(this.#file.deployments.map((deployment) => deployment.profile));
    for (const compute of this.#file.compute.values()) {
      if (!profiles.has(compute.name)) this.#unused(compute.place, `profile ${show(compute.name)} is not in use`);
    }
    const placements = new Set(this.#file.deployments.map((deployment) => deployment.placement));
    for (const placement of this.#file.placements.values()) {
      if (!placements.has(placement.name))
        this.#unused(placement.place, `placement ${show(placement.name)} is not in use`);
      for (const [profile, price] of placement.pricing) {
        if (!this.#file.compute.has(profile))
          this.#unused(price.place, `there is no profile ${show(profile)} for this price`);
      }
    }
  }

  #unused(place: Place, problem: string): void {
    this.#report.warn(place, "reference", { problem, remedy: "remove it, or name it under deployment:" });
  }
}

const MAX_USUAL_VOLUMES = 4;

function isIngress(expose: ExposeDecl): boolean {
  const outer = expose.externalPort || expose.port;
  return outer === 80 && expose.proto === "TCP" && expose.to.some((target) => target.global);
}

/** Whether requests for the port are distinguished from those for others by their host names. */
function isTold(expose: ExposeDecl): boolean {
  return isIngress(expose) && expose.hosts.length > 0 && expose.to.every((target) => target.global && target.ip === "");
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).map(show).join(", ");
  return names.length > 5 ? `${shown}, ...` : shown;
}
