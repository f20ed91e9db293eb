/** `svc/deploy`: a deployment file to running services in one call. Node.js alone. */
export {
  type BidChoice,
  type BidPolicy,
  type DeployOptions,
  type DeployReporter,
  type DeployResult,
  deploy,
  deployErrors,
  type LeaseResult,
  type PortResult,
  type Questions,
  type ServiceResult,
  type StepName,
  type StepTime,
} from "../cli/deploy/index.ts";
