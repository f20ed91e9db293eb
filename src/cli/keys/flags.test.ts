import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Ran, runCli } from "../../../test/cli/run.ts";
import vectors from "../../../test/vectors/keys.json" with { type: "json" };

/** Each flag of commands with keys, written on the command line with a value other than its default. */

const [k0] = vectors.keys;
const PASS = "keyring-pass-9";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-keys-flags-"));
});
afterEach(() => rmSync(home, { recursive: true }));

/**
 * Uses the profile of the chain that the keys were recorded on, and the backend "test" unless a flag says otherwise.
 */
const svc = (words: readonly string[], input = ""): Promise<Ran> =>
  runCli(words, { input, env: { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_PROFILE: "cosmos" } });
const keys = (...words: readonly string[]): Promise<Ran> => svc(["keys", ...words]);

const recorded = (name: string) => vectors.keys.find((key) => key.name === name);
const recover = (name: string, ...flags: string[]) =>
  svc(["keys", "add", name, "--recover", ...flags], `${recorded(name)?.mnemonic}\n`);
const addressOf = async (name: string) => (await keys("show", name, "-a")).out.trim();
const names = async () => (await keys("list", "-n")).out;

describe("keys add", () => {
  test.each(["k1", "k2", "k3", "k4"])("--account, --index, --coin-type and --hd-path lead to %s", async (name) => {
    const flags = Object.entries(recorded(name)?.flags ?? {}).flat();
    expect(flags).toHaveLength(2);
    await recover(name, ...flags);
    expect(await addressOf(name)).toBe(recorded(name)?.address);
  });

  test("--interactive asks for the phrase and its passphrase", async () => {
    const kp = recorded("kp");
    await svc(["keys", "add", "kp", "--interactive"], [kp?.mnemonic, kp?.passphrase, kp?.passphrase, ""].join("\n"));
    expect(await addressOf("kp")).toBe(kp?.address);
  });

  test("--source has the phrase", async () => {
    const path = join(home, "phrase");
    writeFileSync(path, `${k0?.mnemonic}\n`, { mode: 0o600 });
    await keys("add", "k0", "--recover", "--source", path);
    expect(await addressOf("k0")).toBe(k0?.address);
  });

  test("--no-backup keeps the phrase to itself, --dry-run stores nothing", async () => {
    expect((await keys("add", "new", "--no-backup")).err).toBe("\n");
    expect((await keys("add", "other", "--dry-run")).out).toContain("name: other");
    expect(await names()).toBe("new\n");
  });

  test("--pubkey and --pubkey-base64 store a public key alone", async () => {
    const base64 = "AxLZ24vr+sh4EwC/7P3mUCjdfn/ohvrFNsfRUTuz0pNm";
    for (const flags of [
      ["--pubkey", k0?.pubkey ?? ""],
      ["--pubkey-base64", base64],
    ]) {
      const { out } = await keys("add", "watch", ...flags, "-o", "json", "--dry-run");
      expect(JSON.parse(out)).toMatchObject({ type: "offline", address: k0?.address });
    }
  });

  test.each(vectors.multisig)("--multisig, --multisig-threshold and --nosort make $name", async (multisig) => {
    for (const name of ["k0", "k5", "k6"]) await recover(name);
    const flags = ["--multisig", multisig.members.join(","), "--multisig-threshold", "2"];
    const { out } = await keys("add", multisig.name, ...flags, ...(multisig.nosort ? ["--nosort"] : []));
    expect(out).toBe(multisig.text);
  });

  test("--algo takes the one kind of key, under both its names", async () => {
    for (const flag of ["--algo", "--key-type"]) {
      expect((await keys("add", "new", flag, "sr25519")).err).toContain(
        'provided algorithm "sr25519" is not supported',
      );
    }
    expect(await names()).toBe("");
  });

  test("-o json and --pubkey-format json", async () => {
    const { out } = await recover("k0", "-o", "json", "--pubkey-format", "json");
    expect(JSON.parse(JSON.parse(out).pubkey)["@type"]).toBe("/cosmos.crypto.secp256k1.PubKey");
  });
});

describe("keys list and show", () => {
  test("-n lists names alone, -o json and --pubkey-format json change the form", async () => {
    await recover("k0");
    expect((await keys("list")).out).toBe(vectors.outputs.show_text.replace(/\n*$/, "\n\n"));
    expect(await names()).toBe("k0\n");
    const listed = JSON.parse((await keys("list", "-o", "json", "--pubkey-format", "json")).out);
    const shown = JSON.parse((await keys("show", "k0", "-o", "json", "--pubkey-format", "json")).out);
    expect(listed).toEqual([shown]);
    expect(JSON.parse(shown.pubkey)["@type"]).toBe("/cosmos.crypto.secp256k1.PubKey");
  });

  test("-a, -p and --bech choose what is shown", async () => {
    await recover("k0");
    expect((await keys("show", "k0", "-a")).out).toBe(`${k0?.address}\n`);
    expect((await keys("show", "k0", "-p")).out).toBe(`${k0?.pubkey}\n`);
    expect((await keys("show", "k0", "-a", "--bech", "val")).out).toBe(`${k0?.valoper}\n`);
    expect((await keys("show", "k0", "-p", "--bech", "cons")).out).toBe(`${k0?.valconspub}\n`);
    expect((await keys("show", "k0", "-a", "-p")).err).toContain("cannot use both --address and --pubkey at once");
    expect((await keys("show", "k0", "-a", "-o", "json")).err).toContain("cannot use --output with --address");
  });

  test("--multisig-threshold is that of the multisig that several keys would make", async () => {
    for (const name of ["k0", "k5", "k6"]) await recover(name);
    const multisig = vectors.multisig.find(({ nosort }) => nosort);
    const { out } = await keys("show", ...(multisig?.members ?? []), "--multisig-threshold", "2");
    expect(out).toBe(multisig?.text.replace(multisig.name, "multi"));
  });
});

describe("keys delete and export", () => {
  test("-y deletes without a question", async () => {
    await recover("k0");
    expect(await keys("delete", "k0")).toMatchObject({ code: 1 });
    expect(await names()).toBe("k0\n");
    expect(await keys("delete", "k0", "-y")).toMatchObject({ code: 0 });
    expect(await names()).toBe("");
  });

  test("--unarmored-hex and --unsafe need each other; -y asks nothing", async () => {
    await recover("k0");
    for (const flag of ["--unarmored-hex", "--unsafe"]) {
      const ran = await svc(["keys", "export", "k0", flag, "-y"], "long enough\n");
      expect(ran).toMatchObject({ code: 2, out: "", err: expect.stringContaining("must be used together") });
    }
    expect(await keys("export", "k0", "--unarmored-hex", "--unsafe", "-y")).toMatchObject({
      code: 0,
      out: `${k0?.privateKey}\n`,
    });
  });

  test("an armor comes back under another name", async () => {
    await recover("k0");
    const path = join(home, "k0.key");
    writeFileSync(path, (await svc(["keys", "export", "k0"], "long enough\n")).out);
    await keys("delete", "k0", "-y");
    expect(await svc(["keys", "import", "back", path], "long enough\n")).toEqual({ code: 0, out: "", err: "" });
    expect(await addressOf("back")).toBe(k0?.address);
  });

  test("a private key in hexadecimal is stored", async () => {
    await svc(["keys", "import-hex", "k0"], `${k0?.privateKey}\n`);
    expect(await addressOf("k0")).toBe(k0?.address);
  });

  test.each([
    ["beside the name", ["k0", k0?.privateKey ?? ""], "pipe it in"],
    ["instead of the name", [k0?.privateKey ?? ""], "give a name"],
    ["with 0x instead of the name", [`0x${k0?.privateKey}`], "give a name"],
  ])("a private key %s is refused with the remedy, and is not repeated", async (_, args, remedy) => {
    const { code, out, err } = await svc(["keys", "import-hex", ...args], `${k0?.privateKey}\n`);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(remedy);
    expect(err).not.toContain(k0?.privateKey);
  });
});

describe("keys parse and mnemonic", () => {
  test("parse prints the other forms", async () => {
    expect((await keys("parse", k0?.address ?? "")).out).toBe(vectors.outputs.parse_text);
    expect(
      JSON.parse((await keys("parse", "60336C54BCB6CE8E50D09F9AE835BC076741C9CF", "-o", "json")).out),
    ).toMatchObject({
      formats: expect.arrayContaining([k0?.address]),
    });
  });

  test("mnemonic prints 24 words, --unsafe-entropy those of what is entered", async () => {
    expect((await keys("mnemonic")).out.trim().split(" ")).toHaveLength(24);
    const entered = () => svc(["keys", "mnemonic", "--unsafe-entropy"], `${"entropy ".repeat(8)}\ny\n`);
    expect(await entered()).toMatchObject({ code: 0, out: (await entered()).out });
  });
});

/** Commands of each group that open the keyring: none needs a node for that. */
describe.each([
  ["keys", ["keys", "show", "k0", "-a"]],
  ["tx", ["tx", "sign", "unsigned.json", "--from", "k0", "--offline", "-a", "1", "-s", "1", "--chain-id", "vec-1"]],
  ["provider run", ["provider", "run", "--from", "k0"]],
])("the keyring of svc %s", (_, command) => {
  const open = (...flags: string[]) => {
    const words = command.map((word) => (word === "unsigned.json" ? join(home, word) : word));
    return svc([...words, ...flags]);
  };
  const FOUND = "not a valid name or address";

  beforeEach(() => {
    const message = {
      "@type": "/cosmos.bank.v1beta1.MsgSend",
      from_address: k0?.address,
      to_address: k0?.address,
      amount: [],
    };
    const body = {
      messages: [message],
      memo: "",
      timeout_height: "0",
      extension_options: [],
      non_critical_extension_options: [],
    };
    const fee = { amount: [], gas_limit: "200000", payer: "", granter: "" };
    writeFileSync(
      join(home, "unsigned.json"),
      JSON.stringify({ body, auth_info: { signer_infos: [], fee }, signatures: [] }),
    );
  });

  test("--keyring-backend is where the key is", async () => {
    await recover("k0");
    expect((await open()).err).not.toContain(FOUND);
    expect((await open("--keyring-backend", "memory")).err).toContain(FOUND);
  });

  test("--keyring-dir is the folder that the key is in", async () => {
    const elsewhere = join(home, "elsewhere");
    await recover("k0", "--keyring-dir", elsewhere);
    expect((await open()).err).toContain(FOUND);
    expect((await open("--keyring-dir", elsewhere)).err).not.toContain(FOUND);
  });

  test("--keyring-passphrase-file answers for the back end file", async () => {
    const path = join(home, "pass");
    writeFileSync(path, `${PASS}\n`, { mode: 0o600 });
    await recover("k0", "--keyring-backend", "file", "--keyring-passphrase-file", path);
    expect((await open("--keyring-backend", "file")).err).toContain("standard input ended");
    const { err } = await open("--keyring-backend", "file", "--keyring-passphrase-file", path);
    expect(err).not.toMatch(/standard input ended|not a valid name/);
  });

  test("--keyring-service is the name that the keys are kept under", async () => {
    const { code, err } = await open("--keyring-backend", "pass", "--keyring-service", "no/name");
    expect(code).toBe(1);
    expect(err).toContain('"no/name": cannot name the keys of a tool');
  });

  test("--keyring-kdf takes strong, and no unknown name", async () => {
    await recover("k0");
    expect((await open("--keyring-kdf", "strong")).err).not.toContain(FOUND);
    expect((await open("--keyring-kdf", "weak")).err).toContain('--keyring-kdf takes standard, strong, not "weak"');
  });
});

test("--keyring-kdf strong makes every guess at the passphrase of a new key dearer", async () => {
  const rounds = async (dir: string, ...flags: string[]): Promise<unknown> => {
    const input = `${k0?.mnemonic}\n${PASS}\n${PASS}\n`;
    const where = ["--keyring-backend", "file", "--keyring-dir", join(home, dir)];
    await svc(["keys", "add", "k0", "--recover", ...where, ...flags], input);
    const item = readFileSync(join(home, dir, "keyring-file", "k0.info"), "utf8");
    return JSON.parse(Buffer.from(item.split(".")[0] ?? "", "base64url").toString()).p2c;
  };
  expect(await rounds("standard")).toBe(8192);
  expect(await rounds("strong", "--keyring-kdf", "strong")).toBe(600_000);
});

test("--keyring-backend test keeps keys in a folder of its own", async () => {
  await recover("k0");
  expect(readdirSync(home)).toEqual(["keyring-test"]);
  expect(existsSync(join(home, "keyring-test", "k0.info"))).toBe(true);
});
