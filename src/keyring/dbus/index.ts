export { type SessionEnvironment, sessionBusPath } from "./address.ts";
export { Bus, DBusError, DBusTimeout } from "./bus.ts";
export type { MethodCall } from "./message.ts";
export { type DBusValue, Variant } from "./types.ts";
