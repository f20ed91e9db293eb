import { describe } from "vitest";
import type { DockerDriver, DockerOptions } from "../../../src/provider/cluster/docker/index.ts";
import { describeWithEngine } from "../../support/containers.ts";
import { DockerEngine } from "../docker-engine.ts";
import { TestEngine } from "../engine.ts";

/** A container engine for hostile tenants, of any kind. */
export interface HostileEngine {
  /** All of its disk, and the state of its provider. */
  readonly folder: string;
  readonly image: string;
  /** The sample image with a program of this machine in it. */
  readonly sampleWith: (path: string) => Promise<string>;
  /** The one provider on it. */
  readonly driver: (overrides: Partial<DockerOptions>) => Promise<DockerDriver>;
  readonly destroy: () => Promise<void>;
}

const PROVIDER = "provider";

async function podman(): Promise<HostileEngine> {
  const engine = await TestEngine.start();
  return {
    folder: engine.folder,
    image: engine.image,
    sampleWith: (path) => engine.sampleWith(path),
    driver: (overrides) => engine.driver(PROVIDER, overrides),
    destroy: () => engine.destroy(PROVIDER),
  };
}

const noDocker = DockerEngine.missing();
if (noDocker !== undefined) console.warn(`hostile tenants are not tried on Docker: ${noDocker}`);

/** Each engine that tenants are kept apart on, and how tests on it are described where this machine has none. */
export const ENGINES = [
  { engineName: "Podman", describeOnIt: describeWithEngine, start: podman },
  {
    engineName: "Docker",
    describeOnIt: describe.skipIf(noDocker !== undefined),
    start: (): Promise<HostileEngine> => DockerEngine.start(),
  },
] as const;
