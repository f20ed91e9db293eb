import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DeviceSettings, EmulatedDevice } from "../../../test/support/ledger/index.ts";
import { runs } from "../../../test/support/runs.ts";
import { verifySecp256k1 } from "../../crypto/index.ts";
import { fromHex, toUtf8 } from "../../util/index.ts";
import { CosmosApp, MAX_DOCUMENT } from "./app.ts";
import { ledgerErrors } from "./errors.ts";
import type { LedgerTransport } from "./transport.ts";

const path = { purpose: 44, coinType: 118, account: 0, change: false, index: 0 };
const DOCUMENT =
  '{"account_number":"6","chain_id":"cosmoshub-4","fee":{"amount":[],"gas":"200000"},"memo":"","msgs":[],"sequence":"1"}';
const document = toUtf8(DOCUMENT);

function directly(device: EmulatedDevice): LedgerTransport {
  return { exchange: (apdu) => device.exchange(apdu), close: async () => undefined };
}

async function open(settings: Partial<DeviceSettings> = {}): Promise<{ device: EmulatedDevice; app: CosmosApp }> {
  const device = new EmulatedDevice(settings);
  return { device, app: await CosmosApp.open(directly(device)) };
}

/** The number of the error that a promise rejects with. */
async function codeOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => "no error",
    (error) => (error.codespace === "ledger" ? error.code : error),
  );
}

describe("keys", () => {
  test("are given without a question, and shown with one", async () => {
    const { device, app } = await open();
    const told = await app.key(path, "cosmos");
    expect(told.address).toBe("cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4");
    expect(device.screens).toEqual([]);
    expect(await app.show(path, "cosmos")).toEqual(told);
    expect(device.screens).toEqual([told.address]);
  });

  test("of a network that the app does not know are those of one that it knows", async () => {
    const { app } = await open();
    const [own, known] = [await app.key(path, "svc"), await app.key(path, "cosmos")];
    expect(own).toEqual(known);
    const older = await open({ prefixes: undefined });
    expect(await older.app.key(path, "svc")).toEqual({
      ...known,
      prefix: "svc",
      address: expect.stringMatching(/^svc19rl4cm2hmr8afy4kldpxz3fka4jguq0a/),
    });
  });
});

describe("signatures", () => {
  test.each([
    ["of today", {}],
    ["before it took a prefix", { prefixWithDocument: false, version: [2, 18, 0] as const }],
    ["that gives the higher S", { highS: true }],
  ])("by an app %s", async (_, settings) => {
    const { device, app } = await open(settings);
    const { publicKey, prefix } = await app.key(path, "svc");
    expect(verifySecp256k1(publicKey.key, document, await app.sign(path, prefix, document))).toBe(true);
    expect(device.screens).toEqual([DOCUMENT]);
  });

  test("documents travel in parts of 250 bytes", async () => {
    const { device, app } = await open();
    const long = toUtf8(DOCUMENT.replace('"memo":""', `"memo":"${"m".repeat(700)}"`));
    await app.sign(path, "cosmos", long);
    expect(device.commands.slice(-5)).toEqual(["55020000", "55020100", "55020100", "55020100", "55020200"]);
    const exact = toUtf8(DOCUMENT.replace('"memo":""', `"memo":"${"m".repeat(500 - document.length)}"`));
    await app.sign(path, "cosmos", exact);
    expect(device.commands.slice(-3)).toEqual(["55020000", "55020100", "55020200"]);
  });
});

describe("refusals", () => {
  test.each([
    ["a locked device", { locked: true }, ledgerErrors.locked.code],
    ["the dashboard", { openApp: "BOLOS" }, ledgerErrors.wrongApp.code],
    ["another app", { openApp: "Bitcoin" }, ledgerErrors.wrongApp.code],
    ["an app of the first generation", { version: [1, 5, 3] as const }, ledgerErrors.oldApp.code],
    ["an early app", { version: [2, 0, 9] as const }, ledgerErrors.oldApp.code],
    ["an answer without a version", { fault: () => fromHex("009000") }, ledgerErrors.badAnswer.code],
    ["an answer of one byte", { fault: () => fromHex("90") }, ledgerErrors.badAnswer.code],
    ["an unheard-of status", { fault: () => fromHex("1234") }, ledgerErrors.badAnswer.code],
    ["a device locked since", { fault: () => fromHex("00020100010000000090" + "00") }, ledgerErrors.locked.code],
    ["a locked device of earlier years", { fault: () => fromHex("6804") }, ledgerErrors.locked.code],
  ])("%s", async (_, settings, code) => {
    expect(await codeOf(open(settings as Partial<DeviceSettings>))).toBe(code);
  });

  test("the app that is open is named", async () => {
    await expect(open({ openApp: "Bitcoin" })).rejects.toThrow("the app Bitcoin is open: the Cosmos app is not open");
    await expect(open({ openApp: "BOLOS" })).rejects.toThrow(/^the Cosmos app is not open/);
  });

  test.each([
    ["a later version", [2, 1, 0] as const],
    ["a far later version", [3, 0, 0] as const],
  ])("%s is taken", async (_, version) => {
    await open({ version });
  });

  test.each([
    ["the user's", { decide: () => false }, document, ledgerErrors.refused.code],
    ["a small memory", { memory: 60 }, document, ledgerErrors.tooLarge.code],
    ["no memory of any device", {}, new Uint8Array(MAX_DOCUMENT + 1), ledgerErrors.tooLarge.code],
    ["a document that is not sorted", {}, toUtf8('{"memo":"","fee":{}}'), ledgerErrors.document.code],
    ["a document with spaces", {}, toUtf8('{ "fee":{} }'), ledgerErrors.document.code],
    ["no document", {}, toUtf8("svc"), ledgerErrors.document.code],
  ])("to sign: %s", async (_, settings, bytes, code) => {
    const { app } = await open(settings);
    expect(await codeOf(app.sign(path, "cosmos", bytes))).toBe(code);
  });

  test("what the app says of a document is passed on", async () => {
    const { app } = await open();
    await expect(app.sign(path, "cosmos", toUtf8('{"fee":{}}'))).rejects.toThrow("JSON Missing chain_id: ");
  });

  test("the user's, of an address", async () => {
    const { app } = await open({ decide: () => false });
    expect(await codeOf(app.show(path, "cosmos"))).toBe(ledgerErrors.refused.code);
  });

  test("a device that waits for an earlier answer is not a refusal", async () => {
    let decide: (approved: boolean) => void = () => undefined;
    const { device, app } = await open({ decide: () => new Promise<boolean>((resolve) => (decide = resolve)) });
    const first = app.sign(path, "cosmos", document);
    while (device.screens.length === 0) await new Promise(setImmediate);
    expect(await codeOf(app.key(path, "cosmos"))).toBe(ledgerErrors.busy.code);
    expect(await codeOf(app.sign(path, "cosmos", document))).toBe(ledgerErrors.busy.code);
    decide(true);
    expect(await first).toHaveLength(64);
  });

  test.each([
    ["another coin", { ...path, coinType: 60 }],
    ["a high number", { ...path, index: 101 }],
    ["a change address", { ...path, change: true }],
  ])("of a path: %s", async (_, wanted) => {
    const { app } = await open();
    expect(await codeOf(app.key(wanted, "cosmos"))).toBe(ledgerErrors.path.code);
  });

  test("high numbers are for experts", async () => {
    const { app } = await open({ expert: true });
    expect((await app.key({ ...path, account: 5000 }, "cosmos")).address).toMatch(/^cosmos1/);
  });

  test.each([
    ["no key", "9000"],
    ["a key that is none", `${"05".repeat(33)}${"61".repeat(45)}9000`],
    ["a key with another address", `02${"01".repeat(32)}${"61".repeat(45)}9000`],
  ])("an answer with %s", async (_, hex) => {
    const { device, app } = await open();
    device.settings.fault = () => fromHex(hex);
    expect(await codeOf(app.key(path, "cosmos"))).toBe(ledgerErrors.badAnswer.code);
  });

  test("whatever else is answered", async () => {
    const told = new Set(Object.values(ledgerErrors).map(({ code }) => code));
    const answer = fc.oneof(
      fc.uint8Array({ maxLength: 120 }),
      fc
        .tuple(fc.uint8Array({ maxLength: 120 }), fc.constantFrom("9000", "6984", "6a80"))
        .map(([data, status]) => Uint8Array.from([...data, ...fromHex(status)])),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 5 }), answer, async (at, bytes) => {
        const device = new EmulatedDevice();
        device.settings.fault = () => (device.commands.length === at + 1 ? bytes : undefined);
        const outcome = CosmosApp.open(directly(device)).then(async (app) => {
          const { prefix } = await app.key(path, "svc");
          return app.sign(path, prefix, document);
        });
        const result = await outcome.catch((error) => (error.codespace === "ledger" ? error.code : error));
        // An answer may happen to be right.
        expect(result instanceof Uint8Array || told.has(result)).toBe(true);
      }),
      { numRuns: runs(20) },
    );
  });

  test("a malformed signature", async () => {
    const { device, app } = await open();
    device.settings.fault = ({ p1 }) => (p1 === 2 ? fromHex("3006020101029000") : undefined);
    expect(await codeOf(app.sign(path, "cosmos", document))).toBe(ledgerErrors.badAnswer.code);
  });
});
