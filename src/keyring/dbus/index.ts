export { Bus, DBusError, DBusTimeout, type SessionEnvironment, sessionBusPath } from "./bus.ts";
export type { MethodCall } from "./message.ts";
export { type DBusValue, Variant } from "./types.ts";
