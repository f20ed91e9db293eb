export { type BlockInfo, Context, type Mode } from "./context.ts";
export { type Event, type EventAttribute, EventSink } from "./events.ts";
export { type GasMeter, infiniteGas, limitedGas } from "./gas.ts";
export { type GasCosts, meteredStore } from "./metered.ts";
export {
  type BoundMethod,
  type BoundService,
  bindService,
  defineGenesis,
  defineModule,
  type GenesisPart,
  type Handlers,
  type Invariant,
  type Module,
  type ModuleAccountSpec,
  type Validators,
} from "./module.ts";
