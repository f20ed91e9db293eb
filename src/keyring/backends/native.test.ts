import { describe, expect, test } from "vitest";
import { credentialKeys, type NativeLibrary, openNative } from "./native.ts";

/** The library's interface over a map, since the systems that it needs are elsewhere. */
function fakeLibrary(): { readonly library: NativeLibrary; readonly secrets: Map<string, Uint8Array> } {
  const secrets = new Map<string, Uint8Array>();
  class Entry {
    readonly #id: string;
    constructor(service: string, account: string, id = `${service}/${account}`) {
      this.#id = id;
    }
    static withTarget(target: string, service: string, account: string): Entry {
      return new Entry(service, account, target);
    }
    async setSecret(secret: Uint8Array): Promise<void> {
      secrets.set(this.#id, secret);
    }
    async getSecret(): Promise<readonly number[] | null> {
      const secret = secrets.get(this.#id);
      return secret === undefined ? null : [...secret];
    }
    async deleteCredential(): Promise<boolean> {
      return secrets.delete(this.#id);
    }
  }
  const findCredentialsAsync = async (service: string) =>
    [...secrets.keys()].flatMap((id) =>
      id.startsWith(`${service}/`) ? [{ account: id.slice(service.length + 1) }] : [],
    );
  return { library: { AsyncEntry: Entry, findCredentialsAsync }, secrets };
}

const context = { service: "svc", env: {}, notify: () => undefined };
const data = Uint8Array.of(0, 255, 10, 128);

describe("Keychain of macOS", () => {
  test("an item is a generic password: the service, the key as account, the data itself", async () => {
    const { library, secrets } = fakeLibrary();
    const items = await openNative(context, "darwin", async () => library);
    expect(await items.create("alice.info", data)).toBe(true);
    expect(await items.create("alice.info", Uint8Array.of(1))).toBe(false);
    expect([...secrets]).toEqual([["svc/alice.info", data]]);
    expect(await items.read("alice.info")).toEqual(data);
    expect(await items.keys()).toEqual(["alice.info"]);
    await items.remove("alice.info");
    expect(await items.read("alice.info")).toBeUndefined();
    expect(items.backend).toBe("os");
  });

  test("what the library says of a failure is reported with the remedy", async () => {
    const { library } = fakeLibrary();
    const findCredentialsAsync = () => Promise.reject(new Error("User interaction is not allowed."));
    const items = await openNative(context, "darwin", async () => ({ ...library, findCredentialsAsync }));
    await expect(items.keys()).rejects.toMatchObject({
      message: "Keychain: User interaction is not allowed.: the keyring's program failed",
      hint: expect.stringContaining("--keyring-backend file"),
    });
  });
});

describe("Credential Manager of Windows", () => {
  test("an item is a generic credential named by prefix, service and key", async () => {
    const { library, secrets } = fakeLibrary();
    const items = await openNative(context, "win32", async () => library);
    await items.write("alice.info", data);
    expect([...secrets]).toEqual([["keyring:svc:alice.info", data]]);
    expect(await items.read("alice.info")).toEqual(data);
  });

  test("keys are found in the system's own list, in any language", () => {
    const listing = [
      "",
      "Aktuell gespeicherte Anmeldeinformationen:",
      "",
      "    Ziel: LegacyGeneric:target=keyring:svc:alice.info",
      "    Typ: Generisch ",
      "    Benutzer: svc",
      "    Ziel: LegacyGeneric:target=keyring:svc:00ff.address",
      "    Ziel: LegacyGeneric:target=keyring:other:bob.info",
      "    Ziel: MicrosoftAccount:target=SSO_POP_Device",
      "",
    ].join("\r\n");
    expect(credentialKeys(listing, "svc")).toEqual(["alice.info", "00ff.address"]);
  });
});

test("a library that is not installed is reported with both remedies", async () => {
  const load = () => Promise.reject(new Error("Cannot find module '@napi-rs/keyring-linux-x64-gnu'"));
  await expect(openNative(context, "darwin", load)).rejects.toMatchObject({
    message: "Keychain: the optional package @napi-rs/keyring does not load: keyring backend not available",
    hint: "run: npm install @napi-rs/keyring, or use --keyring-backend file",
  });
});
