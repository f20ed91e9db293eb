import { existsSync } from "node:fs";
import { join } from "node:path";

/** Variables that describe the session. */
export type SessionEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Path of the socket of the user's session bus, with a zero byte in front when it is in the abstract namespace;
 * undefined if there is none. The address comes from the environment, else from the path of a systemd session.
 */
export function sessionBusPath(env: SessionEnvironment): string | undefined {
  const address = env.DBUS_SESSION_BUS_ADDRESS ?? "";
  if (address !== "") return socketOf(address);
  const runtime = env.XDG_RUNTIME_DIR ?? "";
  const path = join(runtime, "bus");
  return runtime !== "" && existsSync(path) ? path : undefined;
}

/** The first local socket of a list of addresses (D-Bus specification, "Server addresses"). */
function socketOf(addresses: string): string | undefined {
  for (const address of addresses.split(";")) {
    const [transport, rest = ""] = address.split(/:(.*)/s);
    if (transport !== "unix") continue;
    const pairs = rest.split(",").map((pair) => pair.split(/=(.*)/s));
    const values = new Map(pairs.map(([key = "", value = ""]) => [key, unescaped(value)]));
    const abstract = values.get("abstract");
    const path = abstract === undefined ? values.get("path") : `\0${abstract}`;
    if (path !== undefined && path !== "") return path;
  }
  return undefined;
}

function unescaped(value: string): string {
  return value.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
