/**
 * `svc/deploy`: from a deployment file to running services. `deploy` is for Node.js alone; the rest is also for browsers,
 * which have the file as a text.
 */
export { type DeployOptions, deploy } from "../tenant/node/index.ts";
export * from "./deploy.browser.ts";
