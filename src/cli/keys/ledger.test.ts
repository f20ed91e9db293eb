import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type CliChain, cliChain } from "../../../test/cli/chain.ts";
import { type Ran, runCli } from "../../../test/cli/run.ts";
import {
  type DeviceServer,
  type DeviceSettings,
  EmulatedDevice,
  OTHER_PHRASE,
  serveHttp,
  serveTcp,
} from "../../../test/support/ledger/index.ts";
import { fromHex } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";

/**
 * Commands with keys on a hardware device: a device emulated from the public protocol, the commands as users type them.
 */

const TO = encodeAddress(new Uint8Array(20).fill(7));
const NOTICE = "Default sign-mode 'direct' not supported by Ledger, using sign-mode 'amino-json'.\n";
const OFFLINE = ["--offline", "-a", "6", "-s", "1", "--chain-id", "dev-1"];
const NUMBERS = ["-a", "6", "-s", "1", "--chain-id", "dev-1"];

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

function svc(argv: readonly string[], input = ""): Promise<Ran> {
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_LEDGER_TRANSPORT: server.url };
  return runCli(argv, { env, input });
}

async function ok(argv: readonly string[], input = ""): Promise<string> {
  const { code, out, err } = await svc(argv, input);
  if (code !== 0) throw new Error(`svc ${argv.join(" ")} ended with ${code}: ${err}${out}`);
  return out;
}

const addCold = (...flags: readonly string[]): Promise<string> =>
  ok(["keys", "add", "cold", "--ledger", "-o", "json", ...flags]);

function file(name: string, text: string): string {
  writeFileSync(join(root, name), text);
  return join(root, name);
}

/** Ways in which a device refuses, with the error; `at` is the command at which it happens. */
const FAULTS: readonly (readonly [string, Partial<DeviceSettings>, string])[] = [
  ["the user refuses", { decide: () => false }, "refused on the hardware device"],
  ["it is locked", { locked: true }, "the hardware device is locked"],
  ["no app is open", { openApp: "BOLOS" }, "the Cosmos app is not open on the hardware device"],
  ["another app is open", { openApp: "Bitcoin" }, "the app Bitcoin is open: the Cosmos app is not open"],
  [
    "its app is old",
    { version: [2, 0, 3] },
    "version 2.0.3, 2.1.0 is needed: the Cosmos app on the hardware device is too",
  ],
  ["it is unplugged", { fault: () => "disconnect" }, "the connection to the hardware device was lost"],
  ["it talks nonsense", { fault: () => fromHex("123456") }, "gave an invalid answer"],
];

describe("keys", () => {
  test("are added after a look at the device, and shown again", async () => {
    const record = JSON.parse(await addCold());
    expect(record).toMatchObject({ name: "cold", type: "ledger", mnemonic: "" });
    const { address } = await device.keyAt("m/44'/118'/0'/0/0", "svc");
    expect(record.address).toBe(address);
    const { address: known } = await device.keyAt("m/44'/118'/0'/0/0", "cosmos");
    expect(device.screens).toEqual([known]);
    const shown = await svc(["keys", "show", "cold", "-a", "-d"]);
    expect(shown).toEqual({
      code: 0,
      out: `${address}\n`,
      err: `confirm on the hardware device that it shows ${known}, which is ${address} (the app does not know this network's prefix)\n`,
    });
    expect(device.screens).toEqual([known, known]);
    expect(JSON.parse(await ok(["keys", "list", "-o", "json"]))).toEqual([record]);
  });

  test("of a network that the app knows are shown as they are", async () => {
    const ran = await svc(["keys", "add", "cold", "--ledger", "--profile", "cosmos", "-o", "json"]);
    const { address } = await device.keyAt("m/44'/118'/0'/0/0", "cosmos");
    expect(JSON.parse(ran.out).address).toBe(address);
    expect(ran.err).toBe(`confirm on the hardware device that it shows ${address}\n`);
  });

  test("at other places of the device", async () => {
    const { address } = await device.keyAt("m/44'/118'/3'/0/7", "svc");
    expect(JSON.parse(await addCold("--account", "3", "--index", "7")).address).toBe(address);
    await ok(["keys", "show", "cold", "-d"]);
  });

  test("over the emulator's other interface", async () => {
    const http = await serveHttp(device);
    const { address } = JSON.parse(await addCold("--ledger-transport", http.url));
    expect(await ok(["keys", "show", "cold", "-a", "-d", "--ledger-transport", http.url])).toBe(`${address}\n`);
    await http.close();
  });

  test("are members of a multisig, renamed, migrated and deleted as others are", async () => {
    await addCold();
    await ok(["keys", "add", "warm"]);
    const { pubkeys } = JSON.parse(await ok(["keys", "add", "team", "--multisig", "cold,warm", "-o", "json"]));
    expect(pubkeys).toHaveLength(2);
    await ok(["keys", "rename", "cold", "colder", "-y"]);
    await ok(["keys", "migrate", "--to", "amino"]);
    await ok(["keys", "show", "colder", "-d"]);
    const { err } = await svc(["keys", "delete", "colder", "-y"]);
    expect(err).toBe("Public key reference deleted\n");
  });

  test("are not exported", async () => {
    await addCold();
    const ran = await svc(["keys", "export", "cold"], "a passphrase\n");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("only works on local private keys");
  });

  test("a dry run stores nothing", async () => {
    await addCold("--dry-run");
    expect(existsSync(home)).toBe(false);
  });

  describe.each(FAULTS)("when %s", (_, settings, text) => {
    test("none is added", async () => {
      Object.assign(device.settings, settings);
      const { code, out, err } = await svc(["keys", "add", "cold", "--ledger"]);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(/^(confirm on .*\n)?Error: .+\nHint: .+\n$/);
      expect(err).toContain(text);
      expect(existsSync(home)).toBe(false);
    });

    test("none is shown", async () => {
      await addCold();
      Object.assign(device.settings, settings);
      const { code, out, err } = await svc(["keys", "show", "cold", "-d"]);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain(text);
    });
  });

  test("another device does not show the key", async () => {
    await addCold();
    const mine = await device.keyAt("m/44'/118'/0'/0/0", "svc");
    device.settings.phrase = OTHER_PHRASE;
    const theirs = await device.keyAt("m/44'/118'/0'/0/0", "svc");
    const { code, err } = await svc(["keys", "show", "cold", "-d"]);
    expect(code).toBe(1);
    expect(err).toContain(
      `key "cold" is ${mine.address}, the device has ${theirs.address} at m/44'/118'/0'/0/0: the hardware device holds another key`,
    );
    expect(device.screens).toHaveLength(1);
  });

  test("a name that is taken stays when the device refuses", async () => {
    const { address } = JSON.parse(await ok(["keys", "add", "cold", "-o", "json"]));
    device.settings.decide = () => false;
    expect((await svc(["keys", "add", "cold", "--ledger"], "y\n")).code).toBe(1);
    expect(await ok(["keys", "show", "cold", "-a"])).toBe(`${address}\n`);
  });

  test.each([
    ["a path of one's own", ["--ledger", "--hd-path", "m/44'/118'/0'/0/0"], 2, "cannot set custom bip32 path"],
    ["another coin", ["--ledger", "--coin-type", "60"], 1, "m/44'/60'/0'/0/0: the Cosmos app uses no such"],
    ["a number for experts", ["--ledger", "--index", "101"], 1, "m/44'/118'/0'/0/101: the Cosmos app uses no such"],
    ["a number that is none", ["--ledger", "--account", "2147483648"], 1, "not a number below 2^31"],
    [
      "no way to it",
      ["--ledger", "--ledger-transport", "usb"],
      2,
      '--ledger-transport: "usb": not an address of a hardware',
    ],
    ["another origin", ["--ledger", "--recover"], 2, "--recover and --ledger cannot be used together"],
  ])("refused: %s", async (_, flags, code, text) => {
    const ran = await svc(["keys", "add", "cold", ...flags]);
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(text);
    expect(existsSync(home)).toBe(false);
  });
});

describe("signatures without a network", () => {
  beforeEach(() => addCold());

  const send = (...flags: readonly string[]): string[] => ["tx", "bank", "send", "cold", TO, "5utoken", ...flags];

  test("are those of the document that the device showed", async () => {
    const { code, out, err } = await svc(send(...OFFLINE, "-y", "--ledger", "--memo", "a <b> & c"));
    expect({ code, err }).toEqual({ code: 0, err: `${NOTICE}confirm the transaction on the hardware device\n` });
    const { address } = await device.keyAt("m/44'/118'/0'/0/0", "svc");
    expect(JSON.parse(device.screens.at(-1) ?? "")).toMatchObject({
      account_number: "6",
      chain_id: "dev-1",
      memo: "a <b> & c",
      msgs: [{ value: { amount: [{ amount: "5", denom: "utoken" }], from_address: address, to_address: TO } }],
      sequence: "1",
    });
    expect(JSON.parse(out).auth_info.signer_infos[0].mode_info).toEqual({
      single: { mode: "SIGN_MODE_LEGACY_AMINO_JSON" },
    });
    const checked = await ok(["tx", "validate-signatures", file("signed.json", out), "--offline", ...NUMBERS]);
    expect(checked).toContain("[OK]");
  });

  test("need no --ledger, and no notice where the mode is chosen", async () => {
    const { code, err } = await svc(send(...OFFLINE, "-y", "--sign-mode", "amino-json"));
    expect({ code, err }).toEqual({ code: 0, err: "confirm the transaction on the hardware device\n" });
  });

  test("of files and batches", async () => {
    const address = (await ok(["keys", "show", "cold", "-a"])).trim();
    const unsigned = await ok(["tx", "bank", "send", address, TO, "5utoken", "--generate-only"]);
    const path = file("unsigned.json", unsigned);
    const signed = await ok(["tx", "sign", path, "--from", "cold", "--ledger", ...OFFLINE]);
    const written = file("signed.json", signed);
    expect(await ok(["tx", "validate-signatures", written, "--offline", ...NUMBERS])).toContain("[OK]");
    const batch = file("batch.json", unsigned.repeat(2));
    const lines = (await ok(["tx", "sign-batch", batch, "--from", "cold", ...OFFLINE])).trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(device.screens.slice(-2).map((screen) => JSON.parse(screen).sequence)).toEqual(["1", "2"]);
  });

  test("are shares of a multisig", async () => {
    await ok(["keys", "add", "warm"]);
    await ok(["keys", "add", "team", "--multisig", "cold,warm", "--multisig-threshold", "2"]);
    const team = (await ok(["keys", "show", "team", "-a"])).trim();
    const unsigned = file("unsigned.json", await ok(["tx", "bank", "send", team, TO, "5utoken", "--generate-only"]));
    const share = async (name: string, ...flags: readonly string[]): Promise<string> => {
      const { code, out, err } = await svc([
        "tx",
        "sign",
        unsigned,
        "--from",
        name,
        "--multisig",
        team,
        ...OFFLINE,
        ...flags,
      ]);
      expect({ code, err }).not.toMatchObject({ code: 1 });
      expect(err).not.toContain("Default sign-mode");
      return file(`${name}.json`, out);
    };
    const shares = [await share("cold", "--ledger"), await share("warm")];
    const signed = file("signed.json", await ok(["tx", "multisign", unsigned, "team", ...shares, ...OFFLINE]));
    expect(await ok(["tx", "validate-signatures", signed, "--offline", ...NUMBERS])).toContain("[OK]");
  });

  describe.each(FAULTS)("when %s", (_, settings, text) => {
    test("there is none", async () => {
      Object.assign(device.settings, settings);
      const { code, out, err } = await svc(send(...OFFLINE, "-y"));
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(/^(?:(?!Error: |Hint: ).*\n)*Error: .+\nHint: .+\n$/);
      expect(err).toContain(text);
    });
  });

  test("no file is written when the device goes away before the last of a batch", async () => {
    const address = (await ok(["keys", "show", "cold", "-a"])).trim();
    const batch = file(
      "batch.json",
      (await ok(["tx", "bank", "send", address, TO, "5utoken", "--generate-only"])).repeat(3),
    );
    let signed = 0;
    device.settings.fault = ({ ins, p1 }) => {
      if (ins === 2 && p1 === 2) signed += 1;
      return signed === 3 ? "disconnect" : undefined;
    };
    const output = join(root, "signed.json");
    const ran = await svc(["tx", "sign-batch", batch, "--from", "cold", ...OFFLINE, "--output-document", output]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(readdirSync(root)).not.toContain("signed.json");
  });

  test("another device gives none", async () => {
    device.settings.phrase = OTHER_PHRASE;
    const { code, out, err } = await svc(send(...OFFLINE, "-y"));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("the hardware device holds another key");
    expect(device.screens).toHaveLength(1);
  });

  test.each([
    ["mode direct", ["--sign-mode", "direct"], 2, "--sign-mode: a hardware device cannot sign in mode direct"],
    [
      "no way to the device",
      ["--ledger-transport", "x"],
      2,
      '--ledger-transport: "x": not an address of a hardware device',
    ],
    [
      "more than the device remembers",
      ["--memo", "m".repeat(17_000)],
      1,
      "the transaction is too large for the hardware",
    ],
  ])("refused: %s", async (_, flags, code, text) => {
    const ran = await svc(send(...OFFLINE, "-y", ...flags));
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(text);
    expect(device.screens).toHaveLength(1);
  });

  test("a key that is on no device is not signed with when one is asked for", async () => {
    await ok(["keys", "add", "warm"]);
    const ran = await svc(["tx", "bank", "send", "warm", TO, "5utoken", ...OFFLINE, "-y", "--ledger"]);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain('--ledger: key "warm" is not on a hardware device, its type is local');
  });

  const SDL = join(import.meta.dirname, "../../../examples/web.yaml");

  test.each([
    ["certificates", ["tx", "cert", "create", "client", "--from", "cold", ...OFFLINE, "-y"]],
    ["tokens", ["provider", "lease-status", "--from", "cold", "--dseq", "1"]],
    ["whole deployments", ["deploy", SDL, "--from", "cold"]],
    ["bids of a daemon", ["provider", "run", "--from", "cold", "--cluster-public-hostname", "provider.example.com"]],
  ])("%s are not made with the device", async (_, argv) => {
    const ran = await svc(argv);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain('key "cold": a hardware device signs only transactions');
    expect(device.screens).toHaveLength(1);
  });
});

describe("on a chain", () => {
  let chain: CliChain;
  let cold: string;
  beforeAll(async () => {
    chain = await cliChain("alice");
  });
  beforeEach(async () => {
    cold = JSON.parse((await run(["keys", "add", "cold", "--ledger", "-o", "json"])).out).address;
    await chain.tx("bank", "send", "alice", cold, "1000000utoken");
  });
  afterEach(() => run(["keys", "delete", "cold", "-y"]));
  afterAll(() => chain.stop());

  const run = (argv: readonly string[], input = ""): Promise<Ran> =>
    chain.run(argv, { env: { SVC_LEDGER_TRANSPORT: server.url }, input });
  const sequence = async (): Promise<string> => (await chain.query("account", cold)).sequence;

  test("a transfer is confirmed twice, and arrives", async () => {
    const send = ["tx", "bank", "send", "cold", chain.addresses.alice ?? "", "7utoken", "-b", "block"];
    const { code, out } = await run(
      [...send, "--fees", "5000utoken", "--gas", "auto", "--gas-adjustment", "1.3"],
      "y\n",
    );
    expect({ code, result: JSON.parse(out).code }).toEqual({ code: 0, result: 0 });
    expect(JSON.parse(device.screens.at(-1) ?? "").msgs).toHaveLength(1);
  });

  test("nothing is sent when the device refuses or goes away", async () => {
    const before = await sequence();
    const send = ["tx", "bank", "send", "cold", chain.addresses.alice ?? "", "7utoken", "-y", "--fees", "5000utoken"];
    device.settings.decide = () => false;
    expect(await run(send)).toMatchObject({ code: 1, out: "" });
    device.settings.decide = () => true;
    device.settings.fault = ({ p1 }) => (p1 === 2 ? "disconnect" : undefined);
    expect(await run(send)).toMatchObject({ code: 1, out: "" });
    expect(await sequence()).toBe(before);
  });

  test("an estimate and an unsigned transaction need no device", async () => {
    const shown = device.screens.length;
    const send = ["tx", "bank", "send", "cold", chain.addresses.alice ?? "", "7utoken", "--dry-run"];
    expect((await run(send)).err).toContain("gas estimate: ");
    expect((await run(["tx", "bank", "send", cold, TO, "7utoken", "--generate-only", "--ledger"])).code).toBe(0);
    expect(device.screens).toHaveLength(shown);
  });
});
