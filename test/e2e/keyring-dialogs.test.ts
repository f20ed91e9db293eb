import { spawn } from "node:child_process";
import type { MessageBus } from "@particle/dbus-next";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAIN } from "../support/build.ts";
import { connect, type Dialog, FakeKWallet, FakeSecretService } from "../support/fake-desktop.ts";
import { buildOnce, DesktopSession, missingPrograms, runSvc, waitFor } from "../support/index.ts";

/** Dialogs of a desktop: what the command does while one waits, and after it was answered. */

const missing = missingPrograms(["dbus-daemon"]);

describe("the D-Bus daemon", () => {
  test.skipIf(missing.length > 0 && process.env.CI !== "true")(
    missing.length > 0 ? "is not installed, dialogs of keyrings are not tested: dbus-daemon" : "is there",
    () => expect(missing).toEqual([]),
  );
});

/** Long after the command has said that it waits. */
const ACCEPTED: Dialog = { answer: "accepted", afterMs: 6_000 };
const DISMISSED: Dialog = { answer: "dismissed", afterMs: 10 };

describe.skipIf(missing.length > 0)("dialogs", () => {
  let session: DesktopSession;
  let bus: MessageBus;
  beforeEach(async () => {
    session = await DesktopSession.start();
    bus = connect(session.env.DBUS_SESSION_BUS_ADDRESS ?? "");
    bus.on("error", () => undefined);
  });
  afterEach(async () => {
    bus.disconnect();
    await session.stop();
  });
  const svc = (...args: readonly string[]) => runSvc(args, { env: session.env, input: "" });

  async function secretService(dialog: Dialog): Promise<FakeSecretService> {
    const fake = new FakeSecretService(bus, dialog);
    await fake.start();
    return fake;
  }

  async function kwallet(dialog: Dialog): Promise<FakeKWallet> {
    const fake = new FakeKWallet(bus, dialog);
    await fake.start();
    return fake;
  }

  test("a collection is made once its dialog is accepted, and the user hears what is waited for", async () => {
    const fake = await secretService(ACCEPTED);
    const added = await svc("keys", "add", "alice", "--no-backup");
    const notice = 'waiting for the desktop\'s dialog to create the collection "svc" (Ctrl-C cancels)\n';
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining(notice) });
    const [record, index] = fake.items;
    expect([record?.key, index?.key]).toEqual(["alice.info", expect.stringMatching(/^[0-9a-f]{40}\.address$/)]);
    expect(record?.secret[3]).toBe("application/json");
    const item = JSON.parse(Buffer.from(record?.secret[2] ?? []).toString());
    expect(Object.keys(item)).toEqual([
      "Key",
      "Data",
      "Label",
      "Description",
      "KeychainNotTrustApplication",
      "KeychainNotSynchronizable",
    ]);
    expect((await svc("keys", "list", "-n")).stdout).toBe("alice\n");
  });

  test("a locked collection is opened once its dialog is accepted", async () => {
    const fake = await secretService({ answer: "accepted", afterMs: 10 });
    fake.addCollection("svc");
    await svc("keys", "add", "alice", "--no-backup");
    fake.locked = true;
    expect(await svc("keys", "list", "-n")).toMatchObject({ code: 0, stdout: "alice\n" });
    expect(fake.dialogs).toBe(1);
  });

  test("a locked collection whose dialog is dismissed stays as it is", async () => {
    const fake = await secretService(DISMISSED);
    fake.addCollection("svc");
    fake.locked = true;
    const added = await svc("keys", "add", "alice", "--no-backup");
    expect(added).toMatchObject({ code: 1, stderr: expect.stringContaining("unlock the collection") });
    expect(fake.items).toEqual([]);
  });

  test("Ctrl-C ends the wait for a dialog, and nothing is stored", async () => {
    const fake = await secretService("left alone");
    await buildOnce();
    const args = [MAIN, "keys", "add", "alice", "--no-backup"];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...session.env }, stdio: "pipe" });
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
    });
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
    await waitFor(() => said.includes("Ctrl-C cancels"), "the notice");
    child.kill("SIGINT");
    expect([130, "SIGINT"]).toContain(await ended);
    expect(fake.items).toEqual([]);
  });

  test("a wallet that the user opens, of the newer KWallet", async () => {
    const fake = await kwallet(ACCEPTED);
    const kde = ["--keyring-backend", "kwallet"];
    const added = await svc("keys", "add", "alice", "--no-backup", ...kde);
    const notice = 'waiting for KWallet to open the wallet "kdewallet" (Ctrl-C cancels)\n';
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining(notice) });
    expect(fake.opened).toEqual(["kdewallet as svc"]);
    expect(fake.entryList()).toEqual(["alice.info", expect.stringMatching(/^[0-9a-f]{40}\.address$/)]);
    expect((await svc("keys", "delete", "alice", "-y", ...kde)).code).toBe(0);
    expect(fake.entryList()).toEqual([]);
  });

  test("a wallet that the user does not open", async () => {
    await kwallet(DISMISSED);
    for (const [backend, wallet] of [
      ["kwallet", "kdewallet"],
      ["os", "svc"],
    ]) {
      const listed = await svc("keys", "list", "--keyring-backend", backend ?? "");
      const sentence = `KWallet: the wallet "${wallet}" was not opened: access to the keyring was refused`;
      expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining(`Error: ${sentence}\nHint: `) });
    }
  });

  test("a KWallet that is switched off is passed over by os", async () => {
    const fake = await kwallet(ACCEPTED);
    fake.enabled = false;
    const listed = await svc("keys", "list", "--keyring-backend", "kwallet");
    expect(listed.stderr).toContain("KWallet: it is switched off in the settings of the desktop");
    const os = await svc("keys", "list");
    expect(os).toMatchObject({ code: 0, stderr: expect.stringContaining('using "file" in') });
    expect(fake.opened).toEqual([]);
  });
});
