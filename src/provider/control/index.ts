/** How commands of the operator read the state of a provider that runs in the same home. */
export { askProvider } from "./ask.ts";
export { DRAINING, isDraining, setDraining } from "./drain.ts";
export { bidsUnder, Examination, type FactSources, type Finding, factsOf, type ProviderFacts } from "./facts.ts";
export { changePrices, type LeaseEarnings, type OperatorFacts, readOperatorFacts, tryPrices } from "./operator.ts";
export { CONTROL_LIMITS, type ControlOrder, type ControlState } from "./protocol.ts";
export { ControlServer } from "./server.ts";
