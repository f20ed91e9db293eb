import type { Page } from "playwright-core";
import type { HidDevice, HidHost } from "../../../src/console/ledger/hid.ts";
import type { EmulatedDevice } from "./device.ts";
import { usbWith } from "./usb.ts";

/** The emulated device as a browser's list of USB devices has it, for code that is not in a page. */
export class WebHidDouble extends EventTarget implements HidDevice, HidHost {
  readonly productName = "Nano X";
  opened = false;
  /** Whether the user chooses the device in the browser's list. */
  isChosen = true;
  readonly #device: EmulatedDevice;
  #handle: Awaited<ReturnType<typeof openUsb>> | undefined;

  constructor(device: EmulatedDevice) {
    super();
    this.#device = device;
  }

  async requestDevice(): Promise<readonly HidDevice[]> {
    return this.isChosen ? [this] : [];
  }

  async open(): Promise<void> {
    if (this.opened) throw new Error("the device is already open");
    this.#handle = await openUsb(this.#device);
    this.opened = true;
    void this.#deliver();
  }

  async close(): Promise<void> {
    this.opened = false;
  }

  async sendReport(reportId: number, data: Uint8Array): Promise<void> {
    await this.#handle?.write([reportId, ...data]);
  }

  async #deliver(): Promise<void> {
    while (this.opened) {
      const report = await this.#handle?.read(1).catch(() => this.close());
      if (report instanceof Uint8Array)
        this.dispatchEvent(Object.assign(new Event("inputreport"), { data: new DataView(report.buffer) }));
    }
  }
}

function openUsb(device: EmulatedDevice) {
  return usbWith(device).HIDAsync.open("");
}

/** Puts the emulated device into a page as its `navigator.hid`; to be called before the page is opened. */
export async function installHid(page: Page, device: EmulatedDevice): Promise<void> {
  const handle = await openUsb(device);
  await page.exposeFunction("writeReport", async (report: readonly number[]) => handle.write([...report]));
  await page.exposeFunction("readReport", async () => [...((await handle.read(1)) ?? [])]);
  await page.addInitScript(IN_PAGE);
}

const IN_PAGE = `{
  const device = Object.assign(new EventTarget(), {
    productName: "Nano X",
    opened: false,
    async open() {
      device.opened = true;
      void deliver();
    },
    async close() {
      device.opened = false;
    },
    sendReport: async (id, data) => void (await writeReport([id, ...data])),
  });
  const deliver = async () => {
    while (device.opened) {
      const report = Uint8Array.from(await readReport());
      if (report.length > 0) device.dispatchEvent(Object.assign(new Event("inputreport"), { data: new DataView(report.buffer) }));
    }
  };
  Object.defineProperty(navigator, "hid", { value: { requestDevice: async () => [device] } });
}`;
