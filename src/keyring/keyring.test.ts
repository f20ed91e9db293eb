import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import vectors from "../../test/vectors/keyring-dirs.json" with { type: "json" };
import keyVectors from "../../test/vectors/keys.json" with { type: "json" };
import { generatePrivateKey, publicKeyOf, verifySecp256k1 } from "../crypto/index.ts";
import { fromHex, toHex, toUtf8 } from "../util/index.ts";
import { encodeAddress, multisigPublicKey, publicKeyAddress, secp256k1PublicKey } from "../wire/index.ts";
import { FileItems } from "./backends/file-items.ts";
import { MemoryItems } from "./backends/items.ts";
import { fixedPassphrase, type Keyring, openKeyring, type PassphraseSource, passphraseFile } from "./index.ts";
import { ItemKeyring } from "./keyring.ts";
import { checkKeyName } from "./names.ts";
import { encodeRecord } from "./record/proto.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "keyring-"));
});
afterEach(async () => {
  await rm(home, { recursive: true });
});

/** A user who gives prepared answers; afterwards `log` has prompts and notices in their order. */
function user(...answers: string[]): PassphraseSource & { log: string[] } {
  const log: string[] = [];
  const ask = async (prompt: string): Promise<string> => {
    log.push(prompt);
    const answer = answers.shift();
    if (answer === undefined) throw new Error("no answer left");
    return answer;
  };
  return { attempts: 3, log, ask, notify: (text) => log.push(text) };
}

function open(backend: string, passphrase: PassphraseSource = user(), prefix = "svc"): Keyring {
  return openKeyring({ backend, dir: home, passphrase, prefix, notify: () => undefined });
}

async function writeDirectory(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(home, dir), { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(home, dir, name), text, { mode: name === "keyhash" ? 0o555 : 0o600 });
  }
}

const fileOf = (name: string): string => join(home, "keyring-file", name);
const PASSPHRASE = "keyring-pass-9";
const FIRST_ADDRESS = keyVectors.keys[0]?.address ?? "";

test("names and addresses of a file directory are known without its passphrase", async () => {
  const keyring = open("file", fixedPassphrase(PASSPHRASE));
  const keys = [];
  for (const name of ["b", "a"]) keys.push(await keyring.addLocal(name, generatePrivateKey()));
  const { names, addresses } = await open("file", user()).outline();
  expect(names).toEqual(["a", "b"]);
  expect(addresses.map(toHex).toSorted()).toEqual(keys.map(({ address }) => toHex(address)).toSorted());
});

describe("directories of other tools", () => {
  test.each(["amino", "proto"] as const)("a recorded file directory with %s records opens", async (kind) => {
    await writeDirectory("keyring-file", vectors[kind].file.files);
    const keyring = open("file", fixedPassphrase(vectors[kind].file.passphrase), "cosmos");
    const [key] = await keyring.list();
    expect(key?.type).toBe("local");
    expect(encodeAddress(key?.address ?? new Uint8Array(), "account", "cosmos")).toBe(FIRST_ADDRESS);
    expect((await keyring.get(FIRST_ADDRESS)).name).toBe(kind === "amino" ? "alice" : "fa");
    expect(toHex(await keyring.exportPrivateKey(FIRST_ADDRESS))).toBe(keyVectors.keys[0]?.privateKey);
  });

  test("a recorded test directory with local and multisig keys", async () => {
    await writeDirectory("keyring-test", vectors.amino.test.files);
    const keyring = open("test", user(), "cosmos");
    const recorded = [...keyVectors.keys, ...keyVectors.multisig].map(({ name, address }) => [name, address]);
    const found = (await keyring.list()).map(({ name, address }) => [
      name,
      encodeAddress(address, "account", "cosmos"),
    ]);
    expect(found.sort()).toEqual(recorded.sort());
    for (const { name, privateKey } of keyVectors.keys)
      expect(toHex(await keyring.exportPrivateKey(name))).toBe(privateKey);
    await expect(keyring.exportPrivateKey("ms_sorted")).rejects.toThrow("only works on local private keys");
    await expect(keyring.sign("ms_sorted", toUtf8("x"))).rejects.toThrow("cannot sign");
  });

  test("a recorded test directory of the newer kind", async () => {
    await writeDirectory("keyring-test", vectors.proto.test.files);
    const names = (await open("test").list()).map(({ name, type }) => `${name} ${type}`);
    expect(names).toEqual(expect.arrayContaining(["k0 local", "k5 local", "ms multi"]));
  });
});

describe.each(["file", "test", "memory"])("back end %s", (backend) => {
  test("keys are added, found, used, renamed and deleted", async () => {
    const keyring = open(backend, fixedPassphrase(PASSPHRASE));
    expect(await keyring.list()).toEqual([]);
    const privateKey = generatePrivateKey();
    const alice = await keyring.addLocal("alice", privateKey);
    const other = secp256k1PublicKey(publicKeyOf(generatePrivateKey()));
    await keyring.addOffline("Zoe", other);
    await keyring.addMultisig("both", multisigPublicKey(2, [secp256k1PublicKey(publicKeyOf(privateKey)), other]));
    const path = { purpose: 44, coinType: 118, account: 0, change: false, index: 3 };
    await keyring.addLedger("device", secp256k1PublicKey(publicKeyOf(generatePrivateKey())), path);
    const listed = (await keyring.list()).map(({ name, type }) => `${name} ${type}`);
    expect(listed).toEqual(["Zoe offline", "alice local", "both multi", "device ledger"]);
    const address = encodeAddress(alice.address);
    expect(await keyring.get(address)).toEqual(await keyring.get("alice"));
    const signature = await keyring.sign("alice", toUtf8("message"));
    expect(verifySecp256k1(publicKeyOf(privateKey), toUtf8("message"), signature)).toBe(true);
    await keyring.rename("alice", "bob");
    expect((await keyring.get(address)).name).toBe("bob");
    await expect(keyring.sign("alice", toUtf8("message"))).rejects.toThrow("alice.info: key not found");
    await keyring.delete(address);
    expect(await keyring.find("bob")).toBeUndefined();
    expect(await keyring.find(address)).toBeUndefined();
  });

  test("one name and one address stand for one key", async () => {
    const keyring = open(backend, fixedPassphrase(PASSPHRASE));
    const privateKey = generatePrivateKey();
    await keyring.addLocal("alice", privateKey);
    await expect(keyring.addLocal("alice", generatePrivateKey())).rejects.toThrow("alice: key already exists");
    await expect(keyring.addLocal("bob", privateKey)).rejects.toThrow('the same key is stored as "alice"');
    await keyring.addLocal("bob", generatePrivateKey());
    await expect(keyring.rename("bob", "alice")).rejects.toThrow("key already exists");
    expect(await keyring.list()).toHaveLength(2);
  });

  test.each(["a/b", "a\\b", "a%b", "a%2Fb", "a%2fb", "50%", "a..b/%5c/b.info"])(
    "the name %j is a key like any other",
    async (name) => {
      const keyring = open(backend, fixedPassphrase(PASSPHRASE));
      const { address } = await keyring.addLocal(name, generatePrivateKey());
      await keyring.addLocal("plain", generatePrivateKey());
      expect((await keyring.list()).map((key) => key.name)).toEqual([name, "plain"].sort());
      expect((await keyring.get(encodeAddress(address))).name).toBe(name);
      await keyring.rename("plain", `${name}-2`);
      await keyring.delete(name);
      expect((await keyring.list()).map((key) => key.name)).toEqual([`${name}-2`]);
    },
  );

  test.each([
    "",
    "  ",
    " a",
    "../x",
    "x/..",
    "a/./b",
    "a/../../b",
    "/a",
    "a/",
    "a//b",
    "a\0b",
    ".",
    "..",
    ".hidden",
    "a\u202eb",
    "caf\ufffd",
    "\ud800",
    "x".repeat(201),
    encodeAddress(randomBytes(20)),
  ])("the name %j is refused", async (name) => {
    const keyring = open(backend, fixedPassphrase(PASSPHRASE));
    await expect(keyring.addLocal(name, generatePrivateKey())).rejects.toThrow("invalid key name");
    expect(await keyring.list()).toEqual([]);
  });
});

test("a name that is too long is refused with the remedy", () => {
  expect(() => checkKeyName("x".repeat(201))).toThrow(expect.objectContaining({ hint: "choose a shorter one" }));
});

describe("a record that cannot be read", () => {
  test("leaves the rest of a list intact when it is reported", async () => {
    const items = new MemoryItems();
    const keyring = new ItemKeyring({ items });
    await keyring.addLocal("alice", generatePrivateKey());
    await items.write("foreign.info", Uint8Array.of(0x0a, 1, 0x66));
    await items.write("garbage.info", Uint8Array.of(255));
    const faults: string[] = [];
    const listed = await keyring.list(({ message }) => void faults.push(message));
    expect(listed.map(({ name }) => name)).toEqual(["alice"]);
    expect(faults.map((fault) => fault.slice(0, 13)).sort()).toEqual(["foreign.info:", "garbage.info:"]);
    await expect(keyring.list()).rejects.toThrow("cannot be read");
  });
});

describe("files", () => {
  test("private modes, recorded names, no plain text, nothing left over", async () => {
    const keyring = open("file", fixedPassphrase(PASSPHRASE));
    const privateKey = generatePrivateKey();
    const { address } = await keyring.addLocal("alice", privateKey);
    const names = (await readdir(join(home, "keyring-file"))).sort();
    expect(names).toEqual([`${toHex(address)}.address`, "alice.info", "keyhash"].sort());
    expect((await stat(join(home, "keyring-file"))).mode & 0o777).toBe(0o700);
    for (const name of names) expect((await stat(fileOf(name))).mode & 0o777).toBe(0o600);
    expect(await readFile(fileOf("keyhash"), "utf8")).toMatch(/^\$2a\$10\$[./A-Za-z0-9]{53}$/);
    const item = await readFile(fileOf("alice.info"));
    expect(item.includes(Buffer.from(privateKey)) || item.includes("alice")).toBe(false);
    const header = JSON.parse(Buffer.from(item.toString().split(".")[0] ?? "", "base64url").toString());
    expect(header).toMatchObject({ alg: "PBES2-HS256+A128KW", enc: "A256GCM", p2c: 8192 });
  });

  test.each([0o640, 0o604, 0o622])("a key file of mode %o is refused with the remedy", async (mode) => {
    await open("file", fixedPassphrase(PASSPHRASE)).addLocal("alice", generatePrivateKey());
    await chmod(fileOf("alice.info"), mode);
    const keyring = open("file", fixedPassphrase(PASSPHRASE));
    await expect(keyring.get("alice")).rejects.toMatchObject({ hint: `run: chmod 600 ${fileOf("alice.info")}` });
  });

  test("links and directories that others can write to are refused", async () => {
    const keyring = open("file", fixedPassphrase(PASSPHRASE));
    await keyring.addLocal("alice", generatePrivateKey());
    await symlink(fileOf("alice.info"), fileOf("bob.info"));
    await expect(keyring.get("bob")).rejects.toThrow("not a regular file");
    await chmod(join(home, "keyring-file"), 0o777);
    await expect(keyring.list()).rejects.toThrow("others could read or change");
  });

  test.each([
    ["cut off", (text: string) => text.slice(0, 100)],
    ["empty", () => ""],
    ["with a changed byte", (text: string) => `${text.slice(0, -4)}AAAA`],
    ["asking for too much work", (text: string) => changeHeader(text, { p2c: 1e9 })],
    ["asking for no work", (text: string) => changeHeader(text, { p2c: 1 })],
    ["of another algorithm", (text: string) => changeHeader(text, { alg: "dir" })],
  ])("an item %s is reported with its file", async (_, change) => {
    await open("file", fixedPassphrase(PASSPHRASE)).addLocal("alice", generatePrivateKey());
    const text = await readFile(fileOf("alice.info"), "utf8");
    await writeFile(fileOf("alice.info"), change(text));
    await expect(open("file", fixedPassphrase(PASSPHRASE)).get("alice")).rejects.toThrow(
      `key file ${fileOf("alice.info")}`,
    );
  });

  test("names become file names as other tools write them, and none leaves the directory", async () => {
    const dir = join(home, "keyring-test");
    for (const name of ["a/b", "a%b", "a%2Fb", "a\\b"]) await open("test").addLocal(name, generatePrivateKey());
    const names = (await readdir(dir)).filter((name) => name.endsWith(".info"));
    expect(names.sort()).toEqual(["a%252Fb.info", "a%25b.info", "a%2Fb.info", "a\\b.info"].sort());
    expect(await readdir(home)).toEqual(["keyring-test"]);
    await writeFile(join(home, "alice.info"), await readFile(join(dir, "a%25b.info")), { mode: 0o600 });
    expect(await open("test").find("../alice")).toBeUndefined();
  });

  test.each([".", "..", ".x", "", " x ", "../x", "/abs", "a\nb"])(
    "a key %j of another tool is listed and used",
    async (name) => {
      const items = new FileItems(join(home, "keyring-test"));
      const [privateKey, publicKey] = [
        fromHex("01".repeat(32)),
        secp256k1PublicKey(publicKeyOf(fromHex("01".repeat(32)))),
      ];
      await items.create(`${name}.info`, encodeRecord({ type: "local", name, publicKey, privateKey }));
      await items.write(`${toHex(publicKeyAddress(publicKey))}.address`, toUtf8(`${name}.info`));
      await writeFile(join(home, "keyring-test", ".tmp-77"), "left over", { mode: 0o600 });
      await writeFile(join(home, "keyring-test", ".alice.info.swp"), "of an editor", { mode: 0o600 });
      const keyring = open("test");
      expect((await keyring.list()).map((key) => key.name)).toEqual([name]);
      expect((await keyring.get(name)).name).toBe(name);
      expect((await keyring.rename(name, "plain")).name).toBe("plain");
      expect((await readdir(join(home, "keyring-test"))).filter((each) => each.endsWith(".info"))).toEqual([
        "plain.info",
      ]);
    },
  );

  test("an item under another name is noticed", async () => {
    await open("test").addLocal("alice", generatePrivateKey());
    const dir = join(home, "keyring-test");
    await writeFile(join(dir, "bob.info"), await readFile(join(dir, "alice.info")), { mode: 0o600 });
    await expect(open("test").get("bob")).rejects.toThrow('bob.info holds the key "alice"');
  });

  test("two keyrings that add the same name at once keep one key", async () => {
    const [a, b] = [open("test"), open("test")];
    const results = await Promise.allSettled([
      a.addLocal("x", generatePrivateKey()),
      b.addLocal("x", generatePrivateKey()),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await open("test").list()).toHaveLength(1);
  });
});

describe("passphrases", () => {
  const key = fromHex("01".repeat(32));

  test("a new keyring asks twice, until both answers agree and are long enough", async () => {
    const answers = user("short", PASSPHRASE, "different-one", PASSPHRASE, PASSPHRASE);
    await open("file", answers).addLocal("alice", key);
    expect(answers.log).toEqual([
      "Enter keyring passphrase:",
      "password must be at least 8 characters",
      "Enter keyring passphrase:",
      "Re-enter keyring passphrase:",
      "passphrase do not match",
      "Enter keyring passphrase:",
      "Re-enter keyring passphrase:",
    ]);
  });

  test("an existing keyring asks once for everything, and up to three times", async () => {
    await open("file", fixedPassphrase(PASSPHRASE)).addLocal("alice", key);
    const answers = user("wrong", PASSPHRASE);
    const keyring = open("file", answers);
    await keyring.addLocal("bob", generatePrivateKey());
    await keyring.list();
    expect(answers.log).toEqual(["Enter keyring passphrase:", "incorrect passphrase", "Enter keyring passphrase:"]);
    await expect(open("file", user("1", "2", "3", PASSPHRASE)).list()).rejects.toThrow(
      "too many failed passphrase attempts",
    );
  });

  test("the stronger derivation costs a guess more, and every keyring reads it", async () => {
    const options = { backend: "file", dir: home, passphrase: fixedPassphrase(PASSPHRASE), notify: () => undefined };
    await openKeyring(options).addLocal("alice", key);
    await openKeyring({ ...options, kdf: "strong" }).addLocal("bob", generatePrivateKey());
    const rounds = async (name: string): Promise<unknown> => {
      const [header = ""] = (await readFile(join(home, "keyring-file", `${name}.info`), "utf8")).split(".");
      return JSON.parse(Buffer.from(header, "base64url").toString()).p2c;
    };
    expect([await rounds("alice"), await rounds("bob")]).toEqual([8192, 600_000]);
    expect(await readFile(join(home, "keyring-file", "keyhash"), "utf8")).toMatch(/^\$2a\$12\$/);
    expect((await openKeyring(options).list()).map(({ name }) => name)).toEqual(["alice", "bob"]);
    await expect(openKeyring({ ...options, passphrase: fixedPassphrase("wrong-passphrase") }).list()).rejects.toThrow(
      "incorrect passphrase",
    );
  });

  test("a lost keyhash does not let a second passphrase in", async () => {
    await open("file", fixedPassphrase(PASSPHRASE)).addLocal("alice", key);
    await rm(fileOf("keyhash"));
    await expect(
      open("file", fixedPassphrase("another-passphrase")).addLocal("bob", generatePrivateKey()),
    ).rejects.toThrow("incorrect passphrase");
    await open("file", fixedPassphrase(PASSPHRASE)).addLocal("bob", generatePrivateKey());
    expect((await readdir(join(home, "keyring-file"))).sort()).toContain("keyhash");
  });

  test("white space at the ends of a piped line is not part of a new passphrase; older keyrings with it open", async () => {
    const piped = (...answers: string[]) => Object.assign(user(...answers), { trims: true });
    await open("file", piped(`\u2003 ${PASSPHRASE}\t`, ` ${PASSPHRASE}`)).addLocal("alice", key);
    await open("file", fixedPassphrase(PASSPHRASE)).get("alice");
    for (const line of [`${PASSPHRASE} `, `\u0085${PASSPHRASE}\u00a0`]) await open("file", piped(line)).get("alice");
    await rm(fileOf("keyhash"));
    await open("file", piped(` ${PASSPHRASE} `)).get("alice");
    await rm(join(home, "keyring-file"), { recursive: true });
    await open("file", fixedPassphrase(` ${PASSPHRASE} `)).addLocal("alice", key);
    await open("file", piped(` ${PASSPHRASE} `)).get("alice");
    await expect(open("file", fixedPassphrase(PASSPHRASE)).get("alice")).rejects.toThrow("incorrect passphrase");
    await rm(fileOf("keyhash"));
    await open("file", piped(` ${PASSPHRASE} `)).get("alice");
  });

  test("a passphrase is as long as its bytes, and a new one is text", async () => {
    await open("file", user("éééé", "éééé")).addLocal("alice", key);
    await rm(join(home, "keyring-file"), { recursive: true });
    await expect(open("file", fixedPassphrase("caf\ufffd-passphrase")).addLocal("bob", key)).rejects.toThrow(
      "password is not UTF-8 text",
    );
  });

  test("a passphrase file gives its first line, and nobody else may read it", async () => {
    const path = join(home, "passphrase");
    await writeFile(path, `${PASSPHRASE} \nignored\n`, { mode: 0o600 });
    await open("file", passphraseFile(path)).addLocal("alice", key);
    await open("file", fixedPassphrase(PASSPHRASE)).get("alice");
    await chmod(path, 0o644);
    await expect(open("file", passphraseFile(path)).list()).rejects.toThrow("others could read or change");
    await expect(open("file", passphraseFile(join(home, "none"))).list()).rejects.toThrow("does not exist");
  });

  test("a passphrase that the service manager hands over is the system's file, opened to the service", async () => {
    const credentials = join(home, "credentials");
    await mkdir(credentials);
    const path = join(credentials, "passphrase");
    await writeFile(path, `${PASSPHRASE}\n`, { mode: 0o440 });
    await open("file", passphraseFile(path, credentials)).addLocal("alice", key);
    await expect(open("file", passphraseFile(path, home)).list()).rejects.toThrow("others could read or change");
    const none = passphraseFile(join(credentials, "none"), credentials);
    await expect(open("file", none).list()).rejects.toThrow("does not exist");
  });
});

describe("choice of the back end", () => {
  test("os becomes file, and says so", async () => {
    const notices: string[] = [];
    const notify = (text: string): number => notices.push(text);
    const options = { dir: home, passphrase: fixedPassphrase(PASSPHRASE), notify, env: {} };
    await openKeyring({ ...options, backend: "os" }).addLocal("alice", generatePrivateKey());
    expect(notices).toEqual([`keyring backend "os" is not available here, using "file" in ${home}/keyring-file`]);
    expect(await openKeyring({ ...options, backend: "file" }).list()).toHaveLength(1);
  });

  test.each([
    ["kwallet", {}, "KWallet: there is no D-Bus session bus"],
    ["kwallet", { DISABLE_KWALLET: "1" }, "KWallet: DISABLE_KWALLET is set"],
    ["kwallet", { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus" }, "KWallet: connect ENOENT"],
    ["pass", { PATH: "/nonexistent" }, "pass: the program is not installed"],
  ])("%s with %o names what is missing and the remedy", async (backend, env, text) => {
    const keyring = openKeyring({ backend, env, dir: home, passphrase: fixedPassphrase(""), notify: () => undefined });
    await expect(keyring.list()).rejects.toMatchObject({
      message: expect.stringContaining(text),
      hint: "use --keyring-backend file",
    });
  });

  test.each(["../x", "", "a/b", "-a", "x".repeat(65)])("the name %j for keys is refused", async (service) => {
    const options = { backend: "os", dir: home, passphrase: fixedPassphrase(""), notify: () => undefined };
    await expect(openKeyring({ ...options, service }).list()).rejects.toThrow("cannot name the keys of a tool");
  });

  test("an unknown name lists the known ones", () => {
    expect(() => open("wallet")).toThrow("unknown keyring backend wallet");
  });
});

function changeHeader(text: string, change: object): string {
  const [header = "", ...rest] = text.split(".");
  const changed = { ...JSON.parse(Buffer.from(header, "base64url").toString()), ...change };
  return [Buffer.from(JSON.stringify(changed)).toString("base64url"), ...rest].join(".");
}
