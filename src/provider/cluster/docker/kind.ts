import { join } from "node:path";
import type { ReadSetting } from "../../../util/index.ts";
import type { Cluster, ClusterKind, ClusterSettings } from "../contract/index.ts";
import { answersCheck, gpuCheck } from "../shared/index.ts";
import { discoverEngine } from "./api/discover.ts";
import { openDockerDriver } from "./driver.ts";
import { WEIGHER_WORD } from "./images/weighing/weigher.ts";
import type { DockerOptions } from "./options.ts";
import { ensureSampleImage } from "./sample.ts";
import { DOCKER_PLACES, DOCKER_SETTINGS, type OwnOptions, readDockerSettings } from "./settings.ts";

const FOLDER = "engine";

/** One host with a Docker-compatible container engine. */
export const dockerCluster: ClusterKind = {
  name: "docker",
  heading: "Flags of a container engine:",
  page: "docs/guides/provider.md",
  folder: FOLDER,
  places: DOCKER_PLACES,
  settings: DOCKER_SETTINGS,
  localnetFlags: [],
  configure,
};

function configure(read: ReadSetting): Cluster {
  const engine = read(DOCKER_PLACES.engine);
  const options = readDockerSettings(read);
  const find = async () => {
    const { socket, kind, version } = await discoverEngine(engine);
    return { address: socket, kind, version };
  };
  return {
    capabilities: { carriesTraffic: false, nodePortAddress: options.nodePortAddress, tries: true },
    find,
    open: ({ address, ...settings }) => openDockerDriver({ ...allOptions(settings, options), socket: address }),
    checks: async (offer) => [
      answersCheck(
        find,
        "start the container engine (systemctl enable --now podman.socket), or name its socket with --cluster-engine",
      ),
      gpuCheck(offer, {
        fix: "describe the devices (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml), or offer none: svc tx provider update <file>",
        gpus: async () => (await import("./gpu/index.ts")).describedGpus(),
      }),
    ],
    sampleImage: ensureSampleImage,
  };
}

function allOptions(
  { stateDir, overcommit, stopGraceMs, program, ...settings }: ClusterSettings,
  own: OwnOptions,
): Omit<DockerOptions, "socket"> {
  return {
    ...settings,
    ...own,
    stateDir: join(stateDir, FOLDER),
    thinVolumes: overcommit !== undefined && overcommit.storage > 0,
    timing: { ...own.timing, ...(stopGraceMs === undefined ? {} : { stopGrace: stopGraceMs }) },
    ...(program === undefined ? {} : { weigher: { ...program, args: [...program.args, WEIGHER_WORD] } }),
  };
}
