export { describedGpus, type GpuNeed, Gpus, type TakenGpus } from "./gpus.ts";
export { type GpuModel, parseGpuModels } from "./models.ts";
export { CDI_FOLDERS } from "./specs.ts";
