/** Parts of a deployment that need Node.js: files, certificates, sockets. */
export { type DeployOptions, deploy, deployRequest } from "./deploy.ts";
export { FileJournal } from "./journal.ts";
export { credentialOnce, type LiveOptions, liveParts } from "./live.ts";
