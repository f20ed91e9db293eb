import { type HidHandle, ledgerErrors } from "../../keyring/index.ts";
import { errorText } from "../../util/index.ts";

/** The part of a device of WebHID that is used (WICG, WebHID API). */
export interface HidDevice extends Pick<EventTarget, "addEventListener" | "removeEventListener"> {
  readonly productName: string;
  /** False once the device is unplugged. */
  readonly opened: boolean;
  open(): Promise<void>;
  close(): Promise<void>;
  sendReport(reportId: number, data: Uint8Array): Promise<void>;
}

/** The browser's list of USB devices; Chromium has one. */
export interface HidHost {
  /** Lets the user choose among devices; empty after a refusal. */
  requestDevice(options: {
    readonly filters: readonly { readonly vendorId: number; readonly usagePage: number }[];
  }): Promise<readonly HidDevice[]>;
}

/** The list of a browser; undefined where it has none. */
export function foundHid(browser: object): HidHost | undefined {
  const hid: unknown = Reflect.get(browser, "hid");
  return isHidHost(hid) ? hid : undefined;
}

function isHidHost(value: unknown): value is HidHost {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "requestDevice") === "function";
}

/** A device of WebHID in the form of the transport: reports wait in their order until they are read. */
export async function openHandle(device: HidDevice): Promise<HidHandle> {
  try {
    await device.open();
  } catch (cause) {
    throw ledgerErrors.notOpened(errorText(cause), { cause });
  }
  const reports: Uint8Array[] = [];
  let wake: () => void = () => undefined;
  const take = (event: Event): void => {
    const data: unknown = Reflect.get(event, "data");
    if (data instanceof DataView) reports.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    wake();
  };
  device.addEventListener("inputreport", take);
  return {
    async write([report = 0, ...bytes]) {
      await device.sendReport(report, Uint8Array.from(bytes));
      return bytes.length + 1;
    },
    async read(timeoutMs) {
      if (!device.opened) throw new Error("the device is gone");
      if (reports.length === 0)
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, timeoutMs);
          wake = () => {
            clearTimeout(late);
            resolve();
          };
        });
      return reports.shift();
    },
    async close() {
      device.removeEventListener("inputreport", take);
      await device.close();
    },
  };
}
