import { ledgerErrors } from "./errors.ts";
import type { LedgerTransport } from "./transport.ts";

/** Checks the text that says how a device is reached: `hid`, `tcp://host:port` or `http://host:port`. */
export function checkTransport(text: string): void {
  if (text !== "hid") emulatorUrl(text);
}

/** Opens the way to a device. Each is loaded only when it is needed. */
export async function openTransport(text: string): Promise<LedgerTransport> {
  if (text === "hid") return (await import("./hid.ts")).openHid();
  const url = emulatorUrl(text);
  if (url.protocol === "tcp:") return (await import("./speculos-tcp.ts")).openSpeculosTcp(url);
  return (await import("./speculos-http.ts")).openSpeculosHttp(url);
}

function emulatorUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isGood = url !== undefined && ["tcp:", "http:"].includes(url.protocol) && url.hostname !== "";
  if (!isGood || (url.protocol === "tcp:" && url.port === "")) throw ledgerErrors.transport(JSON.stringify(text));
  return url;
}
