export { discoverEngine, type FoundEngine } from "./api/discover.ts";
export { createEngineDriver, type EngineDriver } from "./driver.ts";
export {
  defaultPrefix,
  type EngineDriverOptions,
  type EngineLimits,
  type EngineTiming,
  type VolumeSizeEnforcement,
} from "./options.ts";
export { ensureSampleImage, SAMPLE_IMAGE } from "./sample.ts";
