export { tryHost } from "./host.ts";
export { Probe, type ProbeState } from "./probe.ts";
