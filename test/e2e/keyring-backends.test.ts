import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openNative } from "../../src/keyring/backends/native.ts";
import { svcHereOk } from "../cli/run.ts";
import { DesktopSession, missingPrograms, runSvc, type SvcResult, waitFor } from "../support/index.ts";
import { IS_NIGHT } from "../support/runs.ts";
import keyVectors from "../vectors/keys.json" with { type: "json" };

/**
 * The keyrings outside this process, with the programs that Debian ships, each in its own session. Runs the built
 * `svc`, so that lazily loaded parts are tested too.
 */

const PROGRAMS = ["dbus-daemon", "gnome-keyring-daemon", "kwalletd5", "pass", "gpg"];
const missing = missingPrograms(PROGRAMS);

describe("programs of the desktops", () => {
  test.skipIf(missing.length > 0 && process.env.CI !== "true")(
    missing.length > 0 ? `keyrings are not tested, not installed: ${missing.join(", ")}` : "are there",
    () => expect(missing).toEqual([]),
  );
});

const described = describe.skipIf(missing.length > 0);
const phraseOf = (name: string): string => keyVectors.keys.find((key) => key.name === name)?.mnemonic ?? "";

/** `svc` in a session, with a back end. */
class Client {
  readonly #session: DesktopSession;
  readonly #flags: readonly string[];

  constructor(session: DesktopSession, ...flags: readonly string[]) {
    this.#session = session;
    this.#flags = flags;
  }

  run(args: readonly string[], input = "", env: Readonly<Record<string, string>> = {}): Promise<SvcResult> {
    return runSvc([...args, ...this.#flags], { input, env: { ...this.#session.env, ...env } });
  }

  async ok(args: readonly string[], input = ""): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    expect(code, stderr).toBe(0);
    return stdout;
  }
}

/** The same keys in a directory, to compare with: what a command prints about them. */
async function plainKeys(session: DesktopSession): Promise<(...args: readonly string[]) => Promise<string>> {
  const flags = ["--keyring-backend", "test", "--home", join(session.root, "plain")];
  const ok = (args: readonly string[], input = "") => svcHereOk([...args, ...flags], { input });
  if ((await ok(["keys", "list", "-n"])) === "")
    for (const name of ["k0", "k5"]) await ok(["keys", "add", name, "--recover"], `${phraseOf(name)}\n`);
  return (...args) => ok(args);
}

/** Keys are put in, shown and removed. */
async function keepKeys(keyring: Client, session: DesktopSession): Promise<void> {
  const [plain, names] = [await plainKeys(session), ["k0", "k5"]];
  expect(await keyring.ok(["keys", "list", "-n"])).toBe("");
  for (const name of names) await keyring.ok(["keys", "add", name, "--recover"], `${phraseOf(name)}\n`);
  expect(await keyring.ok(["keys", "list", "-n"])).toBe("k0\nk5\n");
  expect(await keyring.ok(["keys", "show", "k0"])).toBe(await plain("keys", "show", "k0"));
  for (const name of names) await keyring.ok(["keys", "delete", name, "-y"]);
  expect(await keyring.ok(["keys", "list", "-n"])).toBe("");
}

/** A user's work with keys, from the first to the last step. */
async function useKeys(keyring: Client, session: DesktopSession): Promise<void> {
  expect(await keyring.ok(["keys", "list", "-n"])).toBe("");
  for (const name of ["k0", "k5"]) await keyring.ok(["keys", "add", name, "--recover"], `${phraseOf(name)}\n`);
  const plain = await plainKeys(session);

  expect(await keyring.ok(["keys", "list", "-n"])).toBe("k0\nk5\n");
  expect(await keyring.ok(["keys", "show", "k0"])).toBe(await plain("keys", "show", "k0"));
  const address = (await keyring.ok(["keys", "show", "k0", "-a"])).trim();
  expect(await keyring.ok(["keys", "show", address, "-a"])).toBe(`${address}\n`);

  const unsigned = join(session.root, "unsigned.json");
  writeFileSync(unsigned, await plain("tx", "bank", "send", address, address, "7utoken", "--generate-only"));
  const sign = ["tx", "sign", unsigned, "--from", "k0", "--offline", "-a", "3", "-s", "4", "--chain-id", "vec-1"];
  expect(await keyring.ok(sign)).toBe(await plain(...sign));

  const armor = join(session.root, "k5.armor");
  writeFileSync(armor, await keyring.ok(["keys", "export", "k5"], "export-pass-1\n"));
  const again = await keyring.run(["keys", "import", "copy", armor], "export-pass-1\n");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('the same key is stored as "k5"') });
  const taken = await keyring.run(["keys", "add", "k5", "--no-backup"], "n\n");
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("aborted") });
  await keyring.ok(["keys", "rename", "k0", "first", "-y"]);
  await keyring.ok(["keys", "delete", "k5", "-y"]);
  await keyring.ok(["keys", "import", "copy", armor], "export-pass-1\n");
  expect(await keyring.ok(["keys", "list", "-n"])).toBe("copy\nfirst\n");
  expect(await keyring.ok(["keys", "show", "copy", "-a"])).toBe(await plain("keys", "show", "k5", "-a"));
  const unknown = await keyring.run(["keys", "show", "k5"]);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("key not found") });
  for (const name of ["copy", "first"]) await keyring.ok(["keys", "delete", name, "-y"]);
  expect(await keyring.ok(["keys", "list", "-n"])).toBe("");
}

/** The work in a keyring where another back end was seen to do it whole: the commands are the same, the records are elsewhere. */
const WORK_ELSEWHERE = IS_NIGHT ? useKeys : keepKeys;

/** A refusal: one sentence with the remedy, and no more. */
function refusal(sentence: string): object {
  const lines = `Error: ${sentence}\nHint: `;
  return {
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(new RegExp(`^${lines}[^\\n]*--keyring-backend file\\n$`)),
  };
}

described("Secret Service of GNOME", () => {
  let session: DesktopSession;
  let keyring: Client;
  beforeAll(async () => {
    session = await DesktopSession.start();
    await session.startGnomeKeyring(["svc", "other"]);
    keyring = new Client(session);
  });
  afterAll(() => session?.stop());

  test("holds keys under os", () => useKeys(keyring, session));

  test("keys of tools with other names are apart", async () => {
    await keyring.ok(["keys", "add", "mine", "--no-backup"]);
    const other = new Client(session, "--keyring-service", "other");
    expect(await other.ok(["keys", "list", "-n"])).toBe("");
    await other.ok(["keys", "add", "theirs", "--no-backup"]);
    expect(await other.ok(["keys", "list", "-n"])).toBe("theirs\n");
    expect(await keyring.ok(["keys", "list", "-n"])).toBe("mine\n");
  });

  test("the library for other systems does what is asked of it", async () => {
    const context = { service: "native", env: session.env, notify: () => undefined };
    const before = { ...process.env };
    Object.assign(process.env, session.env);
    try {
      const items = await openNative(context, "darwin");
      const data = Uint8Array.of(0, 255, 10, 128);
      expect(await items.read("k.info")).toBeUndefined();
      expect(await items.create("k.info", data)).toBe(true);
      expect(await items.create("k.info", data)).toBe(false);
      expect(await items.read("k.info")).toEqual(data);
      expect(await items.keys()).toEqual(["k.info"]);
      await items.remove("k.info");
      expect(await items.keys()).toEqual([]);
    } finally {
      for (const name of Object.keys(session.env)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  test("nothing of them is on disk but the service's own file", () => {
    expect(readdirSync(join(session.env.XDG_DATA_HOME ?? "", "keyrings"))).toContain("svc.keyring");
    expect(readdirSync(session.env.HOME ?? "")).not.toContain(".svc");
  });

  test("a dialog for a new collection that is dismissed makes no key", async () => {
    const fresh = new Client(session, "--keyring-service", "fresh");
    const dialog = 'Secret Service: the dialog to create the collection "fresh" was dismissed or could not be shown';
    const refused = refusal(`${dialog}: access to the keyring was refused`);
    expect(await fresh.run(["keys", "add", "k", "--no-backup"])).toMatchObject(refused);
    expect(await fresh.ok(["keys", "list", "-n"])).toBe("");
  });

  test("a locked collection whose dialog is dismissed", async () => {
    await session.lockCollection("other");
    const other = new Client(session, "--keyring-service", "other");
    const dialog = 'Secret Service: the dialog to unlock the collection "other" was dismissed or could not be shown';
    const refused = refusal(`${dialog}: access to the keyring was refused`);
    for (const args of [
      ["keys", "list"],
      ["keys", "show", "theirs"],
      ["keys", "add", "k", "--no-backup"],
    ])
      expect(await other.run(args)).toMatchObject(refused);
  });
});

described("KWallet of KDE", () => {
  let session: DesktopSession;
  beforeAll(async () => {
    session = await DesktopSession.start();
    await session.startKWallet(["kdewallet", "svc"]);
  });
  afterAll(() => session?.stop());

  test("holds keys under kwallet", () => WORK_ELSEWHERE(new Client(session, "--keyring-backend", "kwallet"), session));

  test("holds keys under os, in a wallet of the tool's own", async () => {
    const os = new Client(session);
    await WORK_ELSEWHERE(os, session);
    await os.ok(["keys", "add", "mine", "--no-backup"]);
    expect(await new Client(session, "--keyring-backend", "kwallet").ok(["keys", "list", "-n"])).toBe("");
    expect(await os.ok(["keys", "list", "-n"])).toBe("mine\n");
  });

  test("a key is on disk when the command ends", async () => {
    const wallet = join(session.env.XDG_DATA_HOME ?? "", "kwalletd", "svc.kwl");
    const before = readFileSync(wallet);
    await new Client(session).ok(["keys", "add", "durable", "--no-backup"]);
    expect(readFileSync(wallet).equals(before)).toBe(false);
  });

  test("switched off by the variable of other tools", async () => {
    const off = await new Client(session, "--keyring-backend", "kwallet").run(["keys", "list"], "", {
      DISABLE_KWALLET: "1",
    });
    expect(off).toMatchObject(refusal("KWallet: DISABLE_KWALLET is set: keyring backend not available"));
  });
});

described("KWallet as the Secret Service, which is how KDE sets it up", () => {
  let session: DesktopSession;
  beforeAll(async () => {
    session = await DesktopSession.start();
    await session.startKWalletAsSecretService(["svc"]);
  });
  afterAll(() => session?.stop());

  test("holds keys under os in the collection of the wallet", () => WORK_ELSEWHERE(new Client(session), session));
});

described("KWallet, switched off in the settings", () => {
  let session: DesktopSession;
  beforeAll(async () => {
    session = await DesktopSession.start();
    await session.startKWallet([]);
    writeFileSync(join(session.env.XDG_CONFIG_HOME ?? "", "kwalletrc"), "[Wallet]\nEnabled=false\nFirst Use=false\n");
    await session.kwallet("reconfigure", "", []);
    await waitFor(async () => !(await session.bus.names()).owned.has("org.kde.kwalletd5"), "the end of kwalletd5");
  });
  afterAll(() => session?.stop());

  test("is not there", async () => {
    const off = await new Client(session, "--keyring-backend", "kwallet").run(["keys", "list"]);
    expect(off).toMatchObject(refusal("KWallet: none runs in this session: keyring backend not available"));
  });
});

described("pass", () => {
  let session: DesktopSession;
  beforeAll(async () => {
    session = await DesktopSession.start();
  });
  afterAll(() => session?.stop());
  const inPass = (): Client => new Client(session, "--keyring-backend", "pass");

  test("a password store that is not initialised is reported, and os goes on to file", async () => {
    const refused = await inPass().run(["keys", "add", "k", "--no-backup"]);
    const store = session.env.PASSWORD_STORE_DIR;
    expect(refused).toMatchObject(
      refusal(`pass: the password store ${store} is not initialised: keyring backend not available`),
    );
    const os = await new Client(session).run(["keys", "add", "k", "--no-backup"], "file-pass-1\nfile-pass-1\n");
    const dir = join(session.env.SVC_HOME ?? "", "keyring-file");
    expect(os).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`keyring backend "os" is not available here, using "file" in ${dir}\n`),
    });
    expect(readdirSync(dir)).toContain("k.info");
  });

  test("holds keys", async () => {
    await session.initPass();
    await WORK_ELSEWHERE(inPass(), session);
  });

  test("holds keys under os, beside the user's own entries", async () => {
    mkdirSync(join(session.env.PASSWORD_STORE_DIR ?? "", "mail"), { recursive: true });
    await WORK_ELSEWHERE(new Client(session), session);
    await inPass().ok(["keys", "add", "apart", "--no-backup"]);
    expect(await new Client(session).ok(["keys", "list", "-n"])).toBe("");
    expect(await inPass().ok(["keys", "list", "-n"])).toBe("apart\n");
    // The directory is of the time before the store was initialised.
    const unseen = await new Client(session).run(["keys", "show", "k"]);
    expect(unseen.stderr).toContain("also has keys of --keyring-backend file");
  });

  test("no secret is in the arguments of the program", async () => {
    // A program of the same name in front of the real one writes down what it was started with.
    const folder = join(session.root, "spy");
    mkdirSync(folder);
    const real = (await session.exec("sh", ["-c", "command -v pass"])).trim();
    const log = join(folder, "log");
    writeFileSync(join(folder, "pass"), `#!/bin/sh\necho "$@" >> ${log}\nexec ${real} "$@"\n`, { mode: 0o755 });
    const PATH = `${folder}:${process.env.PATH}`;
    const added = await inPass().run(["keys", "add", "quiet", "--recover"], `${phraseOf("k6")}\n`, { PATH });
    expect(added.code).toBe(0);
    const hex = await inPass().run(["keys", "export", "quiet", "--unarmored-hex", "--unsafe", "-y"], "", { PATH });
    expect(hex.stdout).toMatch(/^[0-9a-f]{64}\n$/);
    const said = readFileSync(log, "utf8");
    expect(said).toMatch(/^insert -m -f -- keyring-svc\/quiet\.info$/m);
    expect(said).not.toContain(hex.stdout.trim());
    for (const line of said.trim().split("\n"))
      expect(line).toMatch(/^(insert -m -f|show|rm -f) -- keyring-svc\/[\w.]+$/);
  });

  test("an entry that is not a key is reported without its content", async () => {
    const entry = "keyring-svc/strange.info";
    await session.exec("sh", ["-c", `printf 'my bank password' | pass insert -m -f ${entry}`]);
    const shown = await inPass().run(["keys", "show", "strange"]);
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining(`entry "${entry}" of the password store`) });
    expect(shown.stderr).not.toContain("bank");
    await session.exec("pass", ["rm", "-f", entry]);
  });

  test("what GPG says when it cannot decrypt", async () => {
    const keys = join(session.root, "gpg", "private-keys-v1.d");
    renameSync(keys, `${keys}.away`);
    await session.exec("gpgconf", ["--kill", "gpg-agent"]);
    const shown = await inPass().run(["keys", "show", "apart"]);
    const sentence = 'pass: could not read "apart.info": gpg: .*: No secret key: the keyring\'s program failed';
    expect(shown).toMatchObject(refusal(sentence));
  });
});
