export { describedGpus, type GpuNeed, Gpus, type TakenGpus } from "./gpus.ts";
export { CDI_FOLDERS } from "./specs.ts";
