import { errorText } from "../../util/index.ts";
import { Bus, DBusError, DBusTimeout, type DBusValue, type MethodCall, sessionBusPath } from "../dbus/index.ts";
import { keyringErrors } from "../errors.ts";

/** Context for back ends outside this process. */
export interface ServiceContext {
  /** Under which name the keys are kept: keys of tools with other names are not seen. */
  readonly service: string;
  /** Variables of the process, which say where the session, the password store and the keys are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tells the user something on standard error. */
  readonly notify: (text: string) => void;
}

/** A healthy program answers at once, but may first have to be started. */
export const ANSWER_MS = 30_000;
/** Dialogs wait for a person. */
export const DIALOG_MS = 5 * 60_000;
/** After this time the user sees what the command waits for. */
const QUIET_MS = 1500;
/** Errors of the bus for a service that does not exist or does not start. */
const NOT_THERE = /^org\.freedesktop\.DBus\.Error\.(ServiceUnknown|NameHasNoOwner|Spawn\.)/;

/** The session bus of the user; without it `what` is not available. */
export async function connectSession({ env }: ServiceContext, what: string): Promise<Bus> {
  const path = sessionBusPath(env);
  if (path === undefined) throw keyringErrors.backend(`${what}: there is no D-Bus session bus`);
  try {
    return await Bus.connect(path);
  } catch (error) {
    throw keyringErrors.backend(`${what}: ${errorText(error)}`);
  }
}

/** A call whose error names `what`. */
export async function callService(
  bus: Bus,
  call: MethodCall,
  { what, timeoutMs = ANSWER_MS }: { readonly what: string; readonly timeoutMs?: number },
): Promise<readonly DBusValue[]> {
  try {
    return await bus.call(call, timeoutMs);
  } catch (error) {
    throw serviceError(error, what);
  }
}

export function serviceError(error: unknown, what: string): unknown {
  if (!(error instanceof DBusError)) return error;
  if (error instanceof DBusTimeout || error.type === "org.freedesktop.DBus.Error.NoReply")
    return keyringErrors.timeout(`${what}: ${error.message}`);
  return (NOT_THERE.test(error.type) ? keyringErrors.backend : keyringErrors.service)(`${what}: ${error.message}`);
}

/** Does the work; if it takes a while, the user sees what the command waits for. */
export async function withNotice<T>(work: Promise<T>, notice: () => void): Promise<T> {
  const timer = setTimeout(notice, QUIET_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
