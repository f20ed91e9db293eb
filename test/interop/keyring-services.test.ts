import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DesktopSession, missingPrograms, svcOk } from "../support/index.ts";
import { IS_NIGHT } from "../support/runs.ts";
import keyVectors from "../vectors/keys.json" with { type: "json" };
import { buildPeer, Peer } from "./peers.ts";

/** Keys in the services of a desktop and in a password store: what either tool stores, the other finds, uses and deletes. */

/** The name under which the reference tools, built without their own, store keys. */
const SERVICE = "cosmos";
const keyNamed = (name: string) => keyVectors.keys.find((key) => key.name === name);

const programs = missingPrograms(["dbus-daemon", "gnome-keyring-daemon", "kwalletd5", "pass", "gpg"]);
/** The older tool is tried at night. */
const TOOLS = IS_NIGHT ? (["simd53", "simd42"] as const) : (["simd53"] as const);
const built = await Promise.all(TOOLS.map((name) => buildPeer(name)));
const peers = built.filter((peer) => peer instanceof Peer);
afterAll(() => {
  for (const peer of peers) peer.remove();
});
const missing = [...programs, ...built.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing]))];

describe("the reference tools and the programs of the desktops", () => {
  test.skipIf(missing.length > 0 && process.env.CI !== "true")(
    missing.length > 0 ? `cannot be had, interchange of keyrings is not tested: ${missing.join("; ")}` : "are there",
    () => expect(missing).toEqual([]),
  );
});

interface Place {
  readonly title: string;
  readonly backend: string;
  readonly prepare: (session: DesktopSession) => Promise<void>;
}

const PLACES: readonly Place[] = [
  { title: "os, by the Secret Service", backend: "os", prepare: (session) => session.startGnomeKeyring([SERVICE]) },
  { title: "os, by KWallet", backend: "os", prepare: (session) => session.startKWallet([SERVICE]) },
  { title: "os, by pass", backend: "os", prepare: (session) => session.initPass() },
  // The reference tools open the wallet of `os` as well, whatever back end is asked for.
  { title: "kwallet", backend: "kwallet", prepare: (session) => session.startKWallet(["kdewallet", SERVICE]) },
  { title: "pass", backend: "pass", prepare: (session) => session.initPass() },
];

const rows = programs.length > 0 ? [] : peers.flatMap((peer) => PLACES.map((place) => ({ ...place, peer })));

describe.each(rows)("$peer.name, back end $title", ({ backend, prepare, peer }) => {
  let session: DesktopSession;
  beforeAll(async () => {
    session = await DesktopSession.start();
    await prepare(session);
  });
  afterAll(() => session?.stop());

  const theirs = (args: readonly string[], input = "") =>
    peer.ok([...args, "--keyring-backend", backend], { input, env: session.env });
  const ours = (args: readonly string[], input = "") =>
    svcOk([...args, "--keyring-backend", backend, "--keyring-service", SERVICE, "--profile", "cosmos"], {
      input,
      env: session.env,
    });
  const HEX = ["--unarmored-hex", "--unsafe"];

  test("keys go both ways", async () => {
    await theirs(["keys", "add", "k0", "--recover"], `${keyNamed("k0")?.mnemonic}\n`);
    expect(await ours(["keys", "show", "k0", "-a"])).toBe(`${keyNamed("k0")?.address}\n`);
    expect(await ours(["keys", "export", "k0", ...HEX], "y\n")).toBe(
      await theirs(["keys", "export", "k0", ...HEX], "y\n"),
    );

    await ours(["keys", "add", "k5", "--recover"], `${keyNamed("k5")?.mnemonic}\n`);
    if (peer.name === "simd42") await ours(["keys", "migrate", "--to", "amino"]);
    expect(await theirs(["keys", "show", "k5", "-a"])).toBe(`${keyNamed("k5")?.address}\n`);
    expect(await theirs(["keys", "show", keyNamed("k5")?.address ?? "", "-a"])).toBe(`${keyNamed("k5")?.address}\n`);
    expect(await theirs(["keys", "export", "k5", ...HEX], "y\n")).toBe(
      await ours(["keys", "export", "k5", ...HEX], "y\n"),
    );
    expect(await ours(["keys", "list", "-n"])).toBe("k0\nk5\n");
    expect(await theirs(["keys", "list", "-n"])).toBe("k0\nk5\n");
  });

  test("what one deletes is gone for the other", async () => {
    await ours(["keys", "delete", "k0", "-y"]);
    expect(await theirs(["keys", "list", "-n"])).toBe("k5\n");
    await theirs(["keys", "delete", "k5", "-y"]);
    expect(await ours(["keys", "list", "-n"])).toBe("");
  });
});
