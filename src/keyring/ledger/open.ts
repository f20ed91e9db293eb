import { errorText } from "../../util/index.ts";
import { ledgerErrors } from "./errors.ts";
import { type HidHandle, HidTransport, LEDGER_USB } from "./packets.ts";
import type { LedgerTransport } from "./transport.ts";

/** Checks the text that says how a device is reached: `hid`, `tcp://host:port` or `http://host:port`. */
export function checkTransport(text: string): void {
  if (text !== "hid") emulatorUrl(text);
}

/** Opens the way to a device. Each is loaded only when it is needed. */
export async function openTransport(text: string): Promise<LedgerTransport> {
  if (text === "hid") return openHid();
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

/** The part of the library for USB devices that is used. */
export interface HidModule {
  devicesAsync(vendorId: number, productId: number): Promise<readonly HidDevice[]>;
  readonly HIDAsync: { open(path: string): Promise<HidHandle> };
}

export interface HidDevice {
  readonly path?: string | undefined;
  readonly interface: number;
  readonly usagePage?: number | undefined;
}

const ANY_PRODUCT = 0;

/** Opens the one device that is connected. */
export async function openHid(load: () => Promise<HidModule> = loadNodeHid): Promise<LedgerTransport> {
  const { hid, devices } = await listDevices(load);
  const paths = [...new Set(devices.filter(isForApps).flatMap(({ path }) => (path === undefined ? [] : [path])))];
  const [path, ...others] = paths;
  if (path === undefined) throw ledgerErrors.notFound();
  if (others.length > 0) throw ledgerErrors.several(`${paths.length} devices`);
  try {
    return new HidTransport(await hid.HIDAsync.open(path));
  } catch (cause) {
    throw ledgerErrors.notOpened(errorText(cause), { cause });
  }
}

/** The native half of the library loads at its first use, and fails on systems without its requirements. */
async function listDevices(
  load: () => Promise<HidModule>,
): Promise<{ readonly hid: HidModule; readonly devices: readonly HidDevice[] }> {
  try {
    const hid = await load();
    return { hid, devices: await hid.devicesAsync(LEDGER_USB.vendor, ANY_PRODUCT) };
  } catch (cause) {
    const [line = ""] = errorText(cause).split("\n");
    throw ledgerErrors.library(line, { cause });
  }
}

function loadNodeHid(): Promise<HidModule> {
  return import("node-hid");
}

/** Where the system does not report the usage page, the interface for applications is the first. */
function isForApps({ usagePage = 0, interface: number }: HidDevice): boolean {
  return usagePage === 0 ? number <= 0 : usagePage === LEDGER_USB.usagePage;
}
