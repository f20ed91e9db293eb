import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import armors from "../../../test/vectors/armor.json" with { type: "json" };
import vectors from "../../../test/vectors/keys.json" with { type: "json" };
import { decryptKeyArmor, encryptKeyArmor } from "../../crypto/index.ts";
import { fromHex, toHex } from "../../util/index.ts";
import { createIo, type Io } from "../terminal/io.ts";
import { type KeysAddOptions, keysAdd } from "./add.ts";
import { keysDelete, keysList, keysRename, keysShow } from "./keys.ts";
import { keysExport, keysImport, keysImportHex, keysMnemonic, keysParse } from "./transfer.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "keys-"));
});
afterEach(async () => {
  await rm(home, { recursive: true });
});

const [k0] = vectors.keys;
const PHRASE = k0?.mnemonic ?? "";
const IMPORTANT = "**Important** write this mnemonic phrase in a safe place.\n";
const PASS = "keyring-pass-9";

interface Ran {
  out: string;
  err: string;
}

/** Runs a command with lines of input and collects its output. */
async function run(command: (io: Io) => Promise<void> | void, input = ""): Promise<Ran> {
  const written: Ran = { out: "", err: "" };
  const stream = new PassThrough();
  stream.end(input);
  const output = { write: (text: string) => (written.out += text) };
  const error = { write: (text: string) => (written.err += text) };
  await command(createIo({ input: stream, output, error }));
  return written;
}

const flags = (backend = "test") => ({ home, keyringBackend: backend, prefix: "cosmos" });

function add(name: string, options: Partial<KeysAddOptions> = {}, input = ""): Promise<Ran> {
  return run((io) => keysAdd({ ...flags(), name, ...options }, io), input);
}

/** Stores the recorded keys of the given names. */
async function recover(...names: string[]): Promise<void> {
  for (const { name, mnemonic, flags: given } of vectors.keys.filter((key) => names.includes(key.name))) {
    const hdPath = given["--hd-path"];
    await add(name, { recover: true, ...(hdPath === undefined ? {} : { hdPath }) }, `${mnemonic}\n`);
  }
}

const record = (name: string) => vectors.keys.find((key) => key.name === name);

describe("keys add", () => {
  test("a recovered key prints the recorded text and never the phrase", async () => {
    expect(await add("k0", { recover: true }, `${PHRASE}\n`)).toEqual({ out: vectors.outputs.show_text, err: "\n" });
  });

  test("JSON has all seven fields", async () => {
    const { out, err } = await add("k0", { recover: true, output: "json" }, `${PHRASE}\n`);
    const { name, address, pubkey } = k0 ?? {};
    expect(out).toBe(
      `${JSON.stringify({ name, type: "local", address, pubkey, mnemonic: "", threshold: 0, pubkeys: [] })}\n`,
    );
    expect(err).toBe("");
  });

  test.each(["text", "json"] as const)("a new key as %s shows its phrase once, on standard error", async (output) => {
    const { out, err } = await add("new", { output });
    const phrase = err.trimEnd().split("\n").at(-1) ?? "";
    expect(phrase.split(" ")).toHaveLength(24);
    expect(err.split(phrase)).toHaveLength(2);
    expect(err).toContain(`\n${IMPORTANT}It is the only way to recover your account`);
    expect(out).not.toContain(phrase);
    const again = await add("again", { recover: true, dryRun: true, output }, `${phrase}\n`);
    expect(again.out.replace("again", "new")).toBe(out);
  });

  test("--no-backup keeps the phrase to itself", async () => {
    expect((await add("new", { noBackup: true })).err).toBe("\n");
  });

  test("--dry-run stores nothing", async () => {
    await add("new", { dryRun: true });
    await expect(stat(join(home, "keyring-test"))).rejects.toThrow("ENOENT");
  });

  test.each(vectors.keys)("numbers and paths lead to the recorded key $name", async (key) => {
    const given = key.flags;
    const number = (text: string | undefined) => (text === undefined ? {} : { value: Number(text) });
    const options: Partial<KeysAddOptions> = {
      recover: true,
      interactive: key.passphrase !== "",
      ...rename("account", number(given["--account"])),
      ...rename("index", number(given["--index"])),
      ...rename("coinType", number(given["--coin-type"])),
      ...(given["--hd-path"] === undefined ? {} : { hdPath: given["--hd-path"] }),
    };
    const input = [key.mnemonic, key.passphrase, key.passphrase, ""].join("\n");
    expect((await add(key.name, options, input)).out).toContain(`address: ${key.address}\n  pubkey: ${key.pubkey}\n`);
  });

  test.each([true, false])("the recorded multisigs (own order: %s)", async (nosort) => {
    await recover("k0", "k5", "k6");
    const multisig = vectors.multisig.find((each) => each.nosort === nosort);
    const options = { multisig: multisig?.members ?? [], multisigThreshold: 2, nosort };
    expect(await add(multisig?.name ?? "", options)).toEqual({ out: multisig?.text, err: "\n" });
  });

  test("public keys as text and as JSON", async () => {
    const { out } = await add("watch", { pubkey: k0?.pubkey ?? "" });
    expect(out).toContain(`type: offline\n  address: ${k0?.address}`);
    const json = '{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"AqRfRtLFtfbXpEWwL0d7vpDIxfMionI2V1zgHrPx3ACG"}';
    expect((await add("other", { pubkey: json })).out).toContain(record("k5")?.address);
  });

  test("public keys in base64, of a multisig, and in the older JSON form", async () => {
    await recover("k0", "k5", "k6");
    const shown = (await add("seen", { pubkeyBase64: "A6bncrnIx1KJLJzGhRBJ0CGbTtHnZjb3NziLYle4D1tV" })).out;
    expect(shown).toContain("type: offline\n  address: cosmos1j0kylsk5g2f6wnav4xdpyut4zej7cq0rka4as6\n");
    const multisig = vectors.multisig.find(({ nosort }) => nosort);
    const members = { names: multisig?.members ?? [], multisigThreshold: 2, pubkey: true };
    const json = (await run((io) => keysShow({ ...flags(), ...members, pubkeyFormat: "json" }, io))).out;
    expect((await add("team", { pubkey: json })).out).toBe(
      multisig?.text.replace(multisig.name, "team").replace("type: multi", "type: offline"),
    );
    const key = { type: "tendermint/PubKeySecp256k1", value: "Aqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq" };
    expect((await add("older", { pubkey: JSON.stringify(key) })).out).toContain("type: offline");
    const value = { threshold: "1", pubkeys: [key] };
    const older = { pubkey: JSON.stringify({ type: "tendermint/PubKeyMultisigThreshold", value }) };
    expect((await add("older-team", older)).out).toContain("threshold: 1\n");
  });

  test.each<[string, Partial<KeysAddOptions>]>([
    ["--multisig and --recover", { multisig: ["a"], recover: true }],
    ["--multisig and --pubkey", { multisig: ["a"], pubkey: "x" }],
    ["--pubkey and --pubkey-base64", { pubkey: "x", pubkeyBase64: "y" }],
    ["--pubkey and --interactive", { pubkey: "x", interactive: true }],
    ["--recover and --ledger", { recover: true, ledger: true }],
  ])("%s exclude each other", async (text, options) => {
    await expect(add("new", options)).rejects.toThrow(`${text} cannot be used together`);
  });

  test("replacing a key needs a confirmation, and a failure leaves the old one", async () => {
    await recover("k0", "k5");
    await expect(add("k0", {}, "n\n")).rejects.toThrow("aborted");
    await expect(add("k0", { recover: true }, "y\nno such words\n")).rejects.toThrow("invalid mnemonic");
    const taken = record("k5")?.mnemonic;
    await expect(add("k0", { recover: true }, `y\n${taken}\n`)).rejects.toThrow('the same key is stored as "k5"');
    expect((await run((io) => keysShow({ ...flags(), names: ["k0"], address: true }, io))).out).toBe(
      `${k0?.address}\n`,
    );
    await add("k0", { recover: true }, `y\n${record("k6")?.mnemonic}\n`);
    const { out } = await run((io) => keysShow({ ...flags(), names: ["k0"], address: true }, io));
    expect(out).toBe(`${record("k6")?.address}\n`);
  });

  test.each<[string, Partial<KeysAddOptions>, string, string]>([
    ["a wrong phrase", { recover: true }, "wrong words here\n", "invalid mnemonic"],
    ["an empty phrase", { recover: true }, "\n", "invalid mnemonic"],
    ["no phrase", { recover: true }, "", "standard input ended"],
    ["different passphrases", { interactive: true }, "\none\ntwo\n", "passphrases don't match"],
    ["another algorithm", { algo: "sr25519" }, "", 'provided algorithm "sr25519" is not supported'],
    ["a path with a device", { ledger: true, hdPath: "m/1/2" }, "", "cannot set custom bip32 path with ledger"],
    [
      "a device that is not there",
      { ledger: true, ledgerTransport: "tcp://127.0.0.1:1" },
      "",
      "no hardware device was found",
    ],
    ["an unknown member", { multisig: ["nobody"] }, "", "nobody is not a valid name or address"],
    ["a threshold of 0", { multisig: ["k0"], multisigThreshold: 0 }, "", "threshold must be a positive integer"],
    ["too high a threshold", { multisig: ["k0"], multisigThreshold: 2 }, "", "n multisignature: 1 < 2"],
    ["a member twice", { multisig: ["k0", "k0"] }, "", "duplicate multisig keys: k0"],
    ["a malformed path", { hdPath: "44" }, "", "doesn't contain '/' separators"],
    ["a foreign public key", { pubkey: k0?.valoperpub ?? "" }, "", "expected cosmospub"],
    ["a damaged public key", { pubkey: "{" }, "", "--pubkey:"],
    ["a source without --recover", { source: "x" }, "", "--recover"],
  ])("%s is refused and stores nothing", async (_, options, input, message) => {
    await recover("k0");
    await expect(add("new", options, input)).rejects.toThrow(message);
    expect((await run((io) => keysList({ ...flags(), listNames: true }, io))).out).toBe("k0\n");
  });
});

describe("keys list and show", () => {
  test("all keys in the order of their names, as text, JSON and names", async () => {
    await recover("k5", "k0");
    const { out } = await run((io) => keysList(flags(), io));
    expect(parse(out)).toMatchObject([
      { name: "k0", address: k0?.address, mnemonic: "", threshold: 0, pubkeys: [] },
      { name: "k5", address: record("k5")?.address },
    ]);
    expect(out.endsWith("pubkeys: []\n\n")).toBe(true);
    const json = (await run((io) => keysList({ ...flags(), output: "json" }, io))).out;
    expect(JSON.parse(json)).toEqual(parse(out));
    expect((await run((io) => keysList({ ...flags(), listNames: true }, io))).out).toBe("k0\nk5\n");
  });

  test("an empty keyring is an empty list", async () => {
    expect((await run((io) => keysList(flags(), io))).out).toBe("[]\n\n");
    expect((await run((io) => keysList({ ...flags(), output: "json" }, io))).out).toBe("[]");
  });

  test("names that YAML would read as something else come back as they are", async () => {
    for (const name of ["true", "123", "a: b", "é#", "no"]) await add(name, { noBackup: true });
    const { out } = await run((io) => keysList(flags(), io));
    expect(parse(out).map(({ name }: { name: string }) => name)).toEqual(["123", "a: b", "no", "true", "é#"]);
  });

  test("address, public key and other forms, by name and by address", async () => {
    await recover("k0");
    const show = async (options: object) =>
      (await run((io) => keysShow({ ...flags(), names: [k0?.address ?? ""], ...options }, io))).out;
    expect(await show({})).toBe(vectors.outputs.show_text);
    expect(await show({ address: true })).toBe(`${k0?.address}\n`);
    expect(await show({ pubkey: true })).toBe(`${k0?.pubkey}\n`);
    expect(await show({ address: true, bech: "val" })).toBe(`${k0?.valoper}\n`);
    expect(await show({ pubkey: true, bech: "cons" })).toBe(`${k0?.valconspub}\n`);
    await expect(show({ bech: "other" })).rejects.toThrow("invalid Bech32 prefix encoding provided: other");
    await expect(show({ address: true, pubkey: true })).rejects.toThrow(
      "cannot use both --address and --pubkey at once",
    );
    await expect(show({ address: true, outputGiven: true })).rejects.toThrow(
      "cannot use --output with --address or --pubkey",
    );
  });

  test("public keys in the JSON form of newer tools", async () => {
    await recover("k0");
    const json = '{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"AxLZ24vr+sh4EwC/7P3mUCjdfn/ohvrFNsfRUTuz0pNm"}';
    const show = async (options: object) =>
      (await run((io) => keysShow({ ...flags(), names: ["k0"], pubkeyFormat: "json", ...options }, io))).out;
    expect(await show({ pubkey: true })).toBe(`${json}\n`);
    expect(await show({})).toBe(vectors.outputs.show_text.replace(k0?.pubkey ?? "", `'${json}'`));
    expect(JSON.parse(await show({ output: "json" })).pubkey).toBe(json);
  });

  test.each([
    [{ pubkey: true }, "the device flag (-d) can only be used for addresses not pubkeys"],
    [{ bech: "val" }, "the device flag (-d) can only be used for accounts"],
    [{}, 'the device flag (-d) can only be used for accounts stored in devices, "k0" is local'],
  ])("-d with %j", async (options, text) => {
    await recover("k0");
    const show = run((io) => keysShow({ ...flags(), names: ["k0"], device: true, ...options }, io));
    await expect(show).rejects.toThrow(text);
  });

  test("several keys show the multisig they would make, in the given order", async () => {
    await recover("k0", "k5", "k6");
    const multisig = vectors.multisig.find(({ nosort }) => nosort);
    const options = { ...flags(), names: multisig?.members ?? [], multisigThreshold: 2 };
    const { out } = await run((io) => keysShow(options, io));
    expect(out).toBe(multisig?.text.replace(multisig.name, "multi"));
  });

  test.each([
    ["nope", "nope is not a valid name or address: key not found"],
    ["cosmos14jlkjfznd7qqew7423j3mky2kwk320p6ys39l0", "no key has the address cosmos14jlkj"],
  ])("%s is not found", async (name, message) => {
    await expect(run((io) => keysShow({ ...flags(), names: [name] }, io))).rejects.toThrow(message);
  });

  test("a missing key is reported with the keys that exist", async () => {
    const show = () => run((io) => keysShow({ ...flags(), names: ["nope"] }, io));
    await expect(show()).rejects.toMatchObject({ hint: expect.stringContaining("is empty") });
    await recover("k0", "k5");
    await expect(show()).rejects.toMatchObject({
      hint: `the keyring in ${flags().home} (--keyring-backend test) holds k0, k5`,
    });
  });
});

describe("keys delete and rename", () => {
  test("a confirmation for each key, skipped with -y", async () => {
    await recover("k0", "k5", "k6");
    await add("watch", { pubkey: record("kp")?.pubkey ?? "" });
    const names = async () => (await run((io) => keysList({ ...flags(), listNames: true }, io))).out;
    const { out, err } = await run((io) => keysDelete({ ...flags(), names: ["k0", "k5"] }, io), "n\ny\n");
    expect([out, err]).toEqual(["", "Key deleted forever (uh oh!)\n"]);
    expect(await names()).toBe("k0\nk6\nwatch\n");
    const second = await run((io) => keysDelete({ ...flags(), names: ["watch"], yes: true }, io));
    expect(second.err).toBe("Public key reference deleted\n");
    await run((io) => keysRename({ ...flags(), name: "k6", newName: "k6b" }, io), "y\n");
    expect(await names()).toBe("k0\nk6b\n");
    await expect(run((io) => keysDelete({ ...flags(), names: ["k6"] }, io))).rejects.toThrow(
      "k6 is not a valid name or address: key not found",
    );
  });
});

describe("keys list of the back end os", () => {
  afterEach(() => void vi.unstubAllEnvs());

  test("says where the keys are today", async () => {
    const store = join(home, "store");
    await mkdir(store);
    await writeFile(join(store, ".gpg-id"), "key\n");
    await writeFile(join(home, "pass"), "#!/bin/sh\n", { mode: 0o755 });
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus");
    vi.stubEnv("PASSWORD_STORE_DIR", store);
    vi.stubEnv("PATH", home);
    const list = () => run((io) => keysList({ ...flags("os"), output: "json" }, io));
    expect(await list()).toEqual({
      out: "[]",
      err: `keyring backend "os" keeps keys in the password store ${store}\n`,
    });
    vi.stubEnv("PATH", "/nonexistent");
    const dir = join(home, "keyring-file");
    expect(await list()).toEqual({
      out: "[]",
      err: `keyring backend "os" is not available here, using "file" in ${dir}\n`,
    });
  });
});

describe("keys export and import", () => {
  test("the key comes back under another name", async () => {
    await recover("k0");
    const exported = await run((io) => keysExport({ ...flags(), name: "k0" }, io), "exportpw-123\n");
    expect(exported.out).toMatch(/^-----BEGIN TENDERMINT PRIVATE KEY-----\nkdf: .*\nsalt: .*\ntype: secp256k1\n\n/);
    expect(exported.out.endsWith("-----END TENDERMINT PRIVATE KEY-----\n")).toBe(true);
    const file = join(home, "k0.key");
    await writeFile(file, exported.out);
    await run((io) => keysDelete({ ...flags(), names: ["k0"], yes: true }, io));
    const imported = await run((io) => keysImport({ ...flags(), name: "back", file }, io), "exportpw-123\n");
    expect(imported).toEqual({ out: "", err: "" });
    const hex = { ...flags(), name: "back", unarmoredHex: true, unsafe: true };
    expect((await run((io) => keysExport(hex, io), "y\n")).out).toBe(`${k0?.privateKey}\n`);
    expect((await run((io) => keysExport(hex, io), "n\n")).out).toBe("");
  });

  test("refusals", async () => {
    await recover("k0");
    const [armor] = armors.items;
    const file = join(home, "armor");
    await writeFile(file, armor?.armor ?? "");
    const importAs = (name: string, input: string, path = file) =>
      run((io) => keysImport({ ...flags(), name, file: path }, io), input);
    await expect(importAs("k0", "exportpw-123\n")).rejects.toThrow("cannot overwrite key: k0");
    await expect(importAs("new", "wrong-passphrase\n")).rejects.toThrow(
      "failed to decrypt private key: invalid account password",
    );
    await expect(importAs("new", "short\n")).rejects.toThrow("password must be at least 8 characters");
    await expect(importAs("new", "exportpw-123\n", join(home, "none"))).rejects.toThrow(
      "cannot read the key file: ENOENT",
    );
    const exportKey = (options: object, input: string) =>
      run((io) => keysExport({ ...flags(), name: "k0", ...options }, io), input);
    await expect(exportKey({}, "short\n")).rejects.toThrow("password must be at least 8 characters");
    await expect(exportKey({ unsafe: true }, "")).rejects.toThrow("must be used together");
    await expect(exportKey({ name: "nope" }, "exportpw-123\n")).rejects.toThrow(
      "nope is not a valid name or address: key not found",
    );
  });
});

describe("white space at the ends of a piped secret", () => {
  test("is not part of the passphrase of an armor; one that was made with it opens as well", async () => {
    await recover("k0");
    const file = join(home, "k0.armor");
    const importAs = (name: string, passphrase: string) =>
      run((io) => keysImport({ ...flags(), keyringDir: join(home, name), name, file }, io), passphrase);
    const { out } = await run((io) => keysExport({ ...flags(), name: "k0" }, io), " exportpw-123\t\r\n");
    await writeFile(file, out);
    await importAs("a", "exportpw-123\n");
    await importAs("b", "exportpw-123  \n");
    await writeFile(file, await encryptKeyArmor(fromHex(k0?.privateKey ?? ""), " exportpw-123 "));
    await importAs("c", " exportpw-123 \n");
    await expect(importAs("d", "exportpw-123\n")).rejects.toThrow("failed to decrypt private key");
  });

  test("is not part of the passphrase of a phrase, nor of entropy", async () => {
    const address = async (passphrase: string) => {
      const { out } = await add("n", { interactive: true, dryRun: true }, `${PHRASE}\n${passphrase}\n${passphrase}\n`);
      return (parse(out) as { address: string }[])[0]?.address;
    };
    expect(await address("  extra words ")).toBe(await address("extra words"));
    expect(await address("  ")).toBe(await address(""));
    const made = (entropy: string) =>
      run((io) => keysMnemonic({ unsafeEntropy: true, yes: true }, io), `${entropy}\n`).then(({ out }) => out);
    expect(await made(`  ${"7".repeat(43)} `)).toBe(await made("7".repeat(43)));
    await expect(made(`${"7".repeat(42)}    `)).rejects.toThrow("You entered 42");
  });

  test("stays on a terminal, as in other tools", async () => {
    await recover("k0");
    const typed = Object.assign(new PassThrough(), { isTTY: true });
    typed.end(" exportpw-123 \n");
    let out = "";
    const streams = { input: typed, output: { write: (text: string) => (out += text) }, error: { write: () => true } };
    await keysExport({ ...flags(), name: "k0" }, createIo(streams));
    await expect(decryptKeyArmor(out, "exportpw-123")).rejects.toThrow();
    expect(toHex(await decryptKeyArmor(out, " exportpw-123 "))).toBe(k0?.privateKey);
  });
});

describe("keys import-hex", () => {
  const importHex = (name: string, input = "") => run((io) => keysImportHex({ ...flags(), name }, io), input);

  test("with and without 0x and a line end", async () => {
    expect(await importHex("k0", k0?.privateKey ?? "")).toEqual({ out: "", err: "" });
    expect(await importHex("k5", `0x${record("k5")?.privateKey.toUpperCase()}\n`)).toEqual({ out: "", err: "" });
    const { out } = await run((io) => keysList(flags(), io));
    expect(parse(out)).toMatchObject([{ address: k0?.address }, { address: record("k5")?.address }]);
  });

  test.each([
    ["text", "no hex at all"],
    ["too few digits", "ab12"],
    ["zero", "00".repeat(32)],
    ["a number above the group order", "ff".repeat(32)],
  ])("%s is refused and not repeated", async (_, hex) => {
    await expect(importHex("new", `${hex}\n`)).rejects.toThrow(/^the private key is not valid$/);
  });

  test("a key that is not there is exported to nobody, and nothing is asked for", async () => {
    await recover("k0");
    for (const backend of ["test", "file"]) {
      for (const kind of [{}, { unarmoredHex: true, unsafe: true }]) {
        for (const name of ["nobody", record("k5")?.address ?? ""]) {
          const exporting = run((io) => keysExport({ ...flags(backend), ...kind, name }, io));
          await expect(exporting).rejects.toThrow(/: key not found$/);
        }
      }
    }
  });

  test("a name that is taken, and one that is invalid", async () => {
    await recover("k0");
    await expect(importHex("k0", record("k5")?.privateKey)).rejects.toThrow("cannot overwrite key: k0");
    await expect(importHex("../x")).rejects.toThrow("invalid key name");
  });
});

describe("the file back end from a pipe", () => {
  const options = (name: string) => ({ ...flags("file"), name });

  test("phrase first, then the new passphrase twice; later commands need it once", async () => {
    const added = await run((io) => keysAdd({ ...options("k0"), recover: true }, io), `${PHRASE}\n${PASS}\n${PASS}\n`);
    expect(added).toEqual({ out: vectors.outputs.show_text, err: "\n" });
    const listed = await run((io) => keysList({ ...flags("file"), listNames: true }, io), `wrong-one\n${PASS}\n`);
    expect(listed).toEqual({ out: "k0\n", err: "incorrect passphrase\n" });
    const exported = await run((io) => keysExport(options("k0"), io), `exportpw-123\n${PASS}\n`);
    expect(exported.out).toContain("BEGIN TENDERMINT PRIVATE KEY");
    await expect(run((io) => keysList(flags("file"), io), "a\nb\nc\n")).rejects.toThrow(
      "too many failed passphrase attempts",
    );
  });

  test("a passphrase file for unattended starts", async () => {
    const path = join(home, "pass");
    await writeFile(path, `${PASS}\n`, { mode: 0o600 });
    const file = { keyringPassphraseFile: path };
    await run((io) => keysAdd({ ...options("k0"), ...file, recover: true }, io), `${PHRASE}\n`);
    expect((await run((io) => keysList({ ...flags("file"), ...file, listNames: true }, io))).out).toBe("k0\n");
  });
});

describe("keys parse and mnemonic", () => {
  test("both directions of parse", async () => {
    const parseText = (text: string, output: "text" | "json" = "text") =>
      run((io) => keysParse({ text, output, prefix: "cosmos" }, io));
    expect((await parseText(k0?.address ?? "")).out).toBe(vectors.outputs.parse_text);
    const { formats } = JSON.parse((await parseText("60336C54BCB6CE8E50D09F9AE835BC076741C9CF", "json")).out);
    expect(formats).toHaveLength(6);
    expect(formats[0]).toBe(k0?.address);
    expect(formats[2]).toBe(k0?.valoper);
    await expect(parseText("zz")).rejects.toThrow("couldn't find valid bech32 nor hex data");
  });

  test("a fresh phrase, or the one of given entropy", async () => {
    expect((await run((io) => keysMnemonic({}, io))).out.trim().split(" ")).toHaveLength(24);
    const unsafe = (input: string) => run((io) => keysMnemonic({ unsafeEntropy: true }, io), input);
    const first = await unsafe(`${"entropy ".repeat(8)}\ny\n`);
    expect(await unsafe(`${"entropy ".repeat(8)}\ny\n`)).toEqual(first);
    await expect(unsafe("too little\n")).rejects.toThrow("You entered 10");
  });
});

function rename(key: string, given: { value?: number }): object {
  return given.value === undefined ? {} : { [key]: given.value };
}
