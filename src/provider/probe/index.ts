export { Probe, type ProbeState } from "./probe.ts";
export { tryHost } from "./trial.ts";
