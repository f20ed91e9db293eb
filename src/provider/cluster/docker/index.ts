export { discoverEngine } from "./api/discover.ts";
export { type DockerDriver, openDockerDriver } from "./driver.ts";
export { dockerCluster } from "./kind.ts";
export { type DockerOptions, defaultPrefix } from "./options.ts";
export { ensureSampleImage, SAMPLE_IMAGE } from "./sample.ts";
