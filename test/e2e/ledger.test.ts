import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeAddress } from "../../src/wire/index.ts";
import { runSvc, SvcProcess, svcOk, waitFor } from "../support/index.ts";
import { type DeviceServer, EmulatedDevice, serveHttp, serveTcp } from "../support/ledger/index.ts";

/** Processes that wait for the buttons of a hardware device. */

const TO = encodeAddress(new Uint8Array(20).fill(7));
const SEND = [
  "tx",
  "bank",
  "send",
  "cold",
  TO,
  "5utoken",
  "--offline",
  "-a",
  "1",
  "-s",
  "0",
  "--chain-id",
  "dev-1",
  "-y",
];

let root: string;
let home: string;
let device: EmulatedDevice;
let server: DeviceServer;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "svc-ledger-"));
  home = join(root, "home");
  device = new EmulatedDevice();
  server = await serveTcp(device);
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

const request = (url = server.url) => ({ home, env: { SVC_KEYRING_BACKEND: "test", SVC_LEDGER_TRANSPORT: url } });

test("a command ends when the device has answered, over either interface", async () => {
  await svcOk(["keys", "add", "cold", "--ledger"], request());
  const http = await serveHttp(device);
  expect(JSON.parse(await svcOk(SEND, request(http.url))).signatures).toHaveLength(1);
  await http.close();
});

test("Ctrl-C ends the wait for the buttons, and the next command says that the device still waits", async () => {
  let decide: (approved: boolean) => void = () => undefined;
  device.settings.decide = () => new Promise((resolve) => (decide = resolve));
  const adding = await SvcProcess.start(["keys", "add", "cold", "--ledger"], { ...request(), log: join(root, "log") });
  await adding.line(/confirm on the hardware device/);
  await waitFor(() => device.screens.length > 0, "the screen of the device");
  await adding.stop();
  expect(adding.running).toBe(false);
  expect(existsSync(home) ? readdirSync(home, { recursive: true }) : []).toEqual([]);
  const again = await runSvc(["keys", "add", "cold", "--ledger"], request());
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("the hardware device still waits for an answer to an earlier request");
  decide(false);
  device.settings.decide = () => true;
  await svcOk(["keys", "add", "cold", "--ledger"], request());
});
