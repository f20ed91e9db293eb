import { addressCases } from "./addresses.ts";
import { admissionCases } from "./admission.ts";
import type { ConformanceCase } from "./harness.ts";
import { lifeCases } from "./life.ts";
import { networkCases } from "./network.ts";
import { streamCases } from "./streams.ts";
import { workloadCases } from "./workloads.ts";

export {
  type ConformanceHarness,
  collect,
  execute,
  httpOver,
  statusOf,
  stream,
  untilHealth,
  untilOk,
  untilUpdated,
} from "./harness.ts";
export { sampleExpose, sampleLease, sampleService, sampleSpec, scriptService } from "./samples.ts";

/** The rules of the contract, for every driver. */
export const clusterConformance: readonly ConformanceCase[] = [
  ...workloadCases,
  ...streamCases,
  ...networkCases,
  ...addressCases,
  ...lifeCases,
  ...admissionCases,
];
