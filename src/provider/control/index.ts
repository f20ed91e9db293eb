/** How commands of the operator read the state of a provider that runs in the same home. */
export { askProvider } from "./ask.ts";
export { DRAINING, isDraining, setDraining } from "./drain.ts";
export { CONTROL_LIMITS, type ControlOrder, type ControlState } from "./protocol.ts";
export { ControlServer } from "./server.ts";
