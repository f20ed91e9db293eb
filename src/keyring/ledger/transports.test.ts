import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  APP_INTERFACE,
  type DeviceServer,
  EmulatedDevice,
  serveHttp,
  serveTcp,
  usbWith,
} from "../../../test/support/ledger/index.ts";
import { fromHex, toUtf8 } from "../../util/index.ts";
import { CosmosApp } from "./app.ts";
import { checkTransport, type HidModule, openHid, openTransport } from "./open.ts";
import type { LedgerTransport } from "./transport.ts";

const path = { purpose: 44, coinType: 118, account: 0, change: false, index: 0 };
const ADDRESS = "cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4";
const memo = "m".repeat(900);
const document = toUtf8(
  `{"account_number":"6","chain_id":"c","fee":{"amount":[],"gas":"1"},"memo":"${memo}","msgs":[],"sequence":"1"}`,
);

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function until<T extends { close(): Promise<unknown> }>(opened: T): T {
  closing.push(() => opened.close());
  return opened;
}

const ways: readonly (readonly [string, (device: EmulatedDevice) => Promise<LedgerTransport>])[] = [
  ["USB", (device) => openHid(async () => usbWith(device))],
  ["TCP", async (device) => openTransport(until(await serveTcp(device)).url)],
  ["HTTP", async (device) => openTransport(until(await serveHttp(device)).url)],
];

describe.each(ways)("over %s", (_, open) => {
  async function connect(device: EmulatedDevice): Promise<LedgerTransport> {
    return until(await open(device));
  }

  test("keys and signatures", async () => {
    const app = await CosmosApp.open(await connect(new EmulatedDevice()));
    expect((await app.key(path, "cosmos")).address).toBe(ADDRESS);
    expect(await app.sign(path, "cosmos", document)).toHaveLength(64);
  });

  test("a device that goes away", async () => {
    const device = new EmulatedDevice();
    const app = await CosmosApp.open(await connect(device));
    device.settings.fault = ({ p1 }) => (p1 === 2 ? "disconnect" : undefined);
    await expect(app.sign(path, "cosmos", document)).rejects.toThrow("the connection to the hardware device was lost");
  });

  test("a device that says nothing", async () => {
    const device = new EmulatedDevice({ fault: () => "silence" });
    const transport = await connect(device);
    await expect(CosmosApp.open(transport, 50)).rejects.toThrow("the hardware device does not answer");
  });

  test("a user who takes their time", async () => {
    let decide: (approved: boolean) => void = () => undefined;
    const device = new EmulatedDevice({ decide: () => new Promise((resolve) => (decide = resolve)) });
    const app = await CosmosApp.open(await connect(device), 1000);
    const signature = app.sign(path, "cosmos", document);
    while (device.screens.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    decide(true);
    expect(await signature).toHaveLength(64);
  });
});

describe("over USB", () => {
  const device = new EmulatedDevice();
  const other = { ...APP_INTERFACE, path: "2-1:1.0" };

  test.each([
    ["no device", [], "no hardware device was found"],
    ["its other interfaces alone", [{ path: "a", interface: 1, usagePage: 0xf1d0 }], "no hardware device was found"],
    ["an interface without a path", [{ interface: 0 }], "no hardware device was found"],
    ["two devices", [APP_INTERFACE, other], "2 devices: more than one hardware device is connected"],
  ])("%s", async (_, listed, text) => {
    await expect(openHid(async () => usbWith(device, listed))).rejects.toThrow(text);
  });

  test.each([
    ["an interface that is listed twice", [APP_INTERFACE, APP_INTERFACE]],
    ["a system that tells no usage page", [{ path: "a", interface: 0 }]],
    ["other interfaces beside it", [{ path: "k", interface: 1, usagePage: 1 }, APP_INTERFACE]],
  ])("%s is one device", async (_, listed) => {
    const transport = await openHid(async () => usbWith(device, listed));
    expect((await (await CosmosApp.open(transport)).key(path, "cosmos")).address).toBe(ADDRESS);
  });

  test("a system without libusb", async () => {
    const broken: HidModule = {
      ...usbWith(device),
      devicesAsync: () => Promise.reject(new Error("libusb-1.0.so.0: cannot open shared object file\n  and more")),
    };
    const error = await openHid(async () => broken).catch((cause) => cause);
    expect(error.message).toBe(
      "libusb-1.0.so.0: cannot open shared object file: the library for USB devices cannot be loaded",
    );
    expect(error.hint).toContain("apt install libusb-1.0-0");
  });

  test("an installation without the library", async () => {
    const missing = () => Promise.reject(new Error("Cannot find package 'node-hid'"));
    await expect(openHid(missing)).rejects.toThrow("the library for USB devices cannot be loaded");
  });

  test("a device that is not ours to open", async () => {
    const closed = { ...usbWith(device), HIDAsync: { open: () => Promise.reject(new Error("cannot open device")) } };
    await expect(openHid(async () => closed)).rejects.toThrow("the hardware device cannot be opened");
  });
});

describe("over the emulator's interfaces", () => {
  async function saying(bytes: Uint8Array): Promise<DeviceServer> {
    const server: Server = createServer((socket) => {
      socket.on("error", () => undefined).on("data", () => socket.end(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return until({
      url: `127.0.0.1:${port}`,
      close: async () => new Promise<void>((resolve) => server.close(() => resolve())),
    });
  }

  test.each([
    ["tcp", fromHex("ffffffff00"), "4294967295 bytes: the hardware device gave an invalid answer"],
    ["tcp", fromHex("0000000590"), "the connection to the hardware device was lost"],
    ["http", toUtf8("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}"), "no JSON with hexadecimal data"],
    ["http", toUtf8("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>"), "no JSON with hexadecimal data"],
    ["http", toUtf8('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"data":"9"}'), "no JSON with hexadecimal data"],
    ["http", toUtf8("SSH-2.0-OpenSSH\r\n"), "the connection to the hardware device was lost"],
  ])("%s that answers otherwise", async (scheme, bytes, text) => {
    const { url } = await saying(bytes);
    const opened = async () => CosmosApp.open(until(await openTransport(`${scheme}://${url}`)));
    await expect(opened()).rejects.toThrow(text);
  });

  test.each(["tcp", "http"])("%s where nobody listens", async (scheme) => {
    const { url, close } = await saying(new Uint8Array());
    await close();
    closing.length = 0;
    const opened = async () => CosmosApp.open(await openTransport(`${scheme}://${url}`));
    await expect(opened()).rejects.toThrow(/127\.0\.0\.1:\d+: .*: no hardware device was found/);
  });

  test.each(["", "usb", "tcp://127.0.0.1", "tcp://", "https://127.0.0.1:5000", "/dev/hidraw0"])(
    "%j is no way to a device",
    (text) => {
      expect(() => checkTransport(text)).toThrow("not an address of a hardware device");
    },
  );
});
