/**
 * The door of `wire`: everything between bytes, JSON and messages.
 *
 * Generated schemas and types are not exported again here. Import them from their own files, for example
 * `import { MsgCreateBidSchema } from "./gen/svc/market/v1beta1/tx_pb.js"`: `src/wire/gen/` belongs to this door.
 */
export * from "./address.ts";
export * from "./any.ts";
export * from "./blocks/index.ts";
export * from "./bounded.ts";
export {
  BackwardWriter,
  decodeMessage,
  decodeStrictly,
  encodeMessage,
  MAX_MESSAGE_DEPTH,
  wireErrors,
} from "./codec/index.ts";
export * from "./errors/index.ts";
export * from "./ics23/index.ts";
export * from "./ids.ts";
export * from "./json/index.ts";
export * from "./keys/index.ts";
export { MODULES, type ModuleRow } from "./modules.ts";
export * from "./namespace.ts";
export * from "./options.ts";
export * from "./registry.ts";
export * from "./std-tx/index.ts";
export * from "./tx/index.ts";
