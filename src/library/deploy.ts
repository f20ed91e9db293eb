/** `svc/deploy`: from a deployment file to running services in one call. Node.js only. */
export {
  type BidChoice,
  type BidPolicy,
  type DeployReporter,
  type DeployResult,
  deployErrors,
  type LeaseResult,
  type PortResult,
  type Questions,
  type ServiceResult,
  type StepName,
  type StepTime,
} from "../tenant/index.ts";
export { type DeployOptions, deploy } from "../tenant/node/index.ts";
