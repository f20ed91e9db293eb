import { join } from "node:path";
import type { HostCluster } from "../contract/index.ts";
import { discoverEngine } from "./api/discover.ts";
import { openDockerDriver } from "./driver.ts";
import { ensureSampleImage } from "./sample.ts";

/** Folder of the driver's own inside the provider's. */
const FOLDER = "engine";

/** One host with a Docker-compatible container engine. */
export const dockerCluster: HostCluster = {
  name: "docker",
  orchestrator: false,
  async find(address) {
    const { socket, kind, version } = await discoverEngine(address);
    return { address: socket, kind, version };
  },
  open({ stateDir, address, sizedVolumes = true, overcommit, stopGraceMs, images, gpuModels, ...settings }) {
    return openDockerDriver({
      ...settings,
      socket: address,
      stateDir: join(stateDir, FOLDER),
      volumeSizeEnforcement: sizedVolumes ? "loop" : "none",
      thinVolumes: overcommit !== undefined && overcommit.storage > 0,
      ...(gpuModels === undefined ? {} : { gpus: { models: gpuModels } }),
      timing: {
        ...(stopGraceMs === undefined ? {} : { stopGrace: stopGraceMs }),
        ...(images === undefined ? {} : { imageKeep: images.keepMs }),
      },
      ...(images === undefined
        ? {}
        : {
            registries: { allowed: images.registries },
            limits: { imageBytes: images.imageBytes, leaseImageBytes: images.leaseBytes },
          }),
    });
  },
  async gpus() {
    const { describedGpus } = await import("./gpu/index.ts");
    return describedGpus();
  },
  sampleImage: ensureSampleImage,
};
