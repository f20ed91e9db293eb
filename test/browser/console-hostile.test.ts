import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ChainClient } from "../../src/client/index.ts";
import { encryptKeyArmor } from "../../src/crypto/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import { MsgCreateProviderSchema } from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture } from "../support/index.ts";
import { mustSend, transfer } from "../support/signer.ts";

/** As many as a browser has connections to one origin. */
const SILENT = 6;
const PASSPHRASE = "correct horse";

describeWithBrowser("pages of the console among strangers", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let silent: Server;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture);
    silent = createServer((socket) => void socket.on("error", () => {})).listen(0, "127.0.0.1");
    await once(silent, "listening");
  });
  afterAll(async () => {
    await fixture.close();
    silent.close();
  });

  /** Providers that take connections and say nothing; pages ask them before the one that answers. */
  async function registerSilent(): Promise<void> {
    const chain = new ChainClient(place.node.address.replace("tcp:", "http:"));
    fixture.defer(async () => chain.close());
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const keys = keysBefore(place.providers[0]?.address ?? "");
    const { address: from } = place.key();
    await mustSend(chain, place.key(), ...keys.map(({ address: to }) => transfer(from, to, 1_000_000n)));
    const register = (key: TestKey) =>
      mustSend(
        chain,
        key,
        packAny(MsgCreateProviderSchema, { owner: key.address, hostUri: `https://127.0.0.1:${port}` }),
      );
    await Promise.all(keys.map(register));
  }

  it("show the price of a provider that answers beside many that keep silent", async () => {
    await registerSilent();
    const opened = await place.openAt(await place.console());
    await opened.visit("deploy");
    await opened.press("A web service");
    await expect.poll(() => opened.page.locator(".state.good").count(), { timeout: 40_000 }).toBe(1);
    expect(opened.faults).toEqual([]);
  });

  it("take no more of a pasted text than shows that it is too large", async () => {
    const opened = await place.open();
    await opened.visit("deploy");
    const editor = opened.page.getByLabel("Deployment file");
    await opened.page.evaluate('navigator.clipboard.writeText("a: b\\n".repeat(200_000))');
    await editor.focus();
    await opened.page.keyboard.press("Control+V");
    await expect.poll(() => opened.text(), { timeout: 20_000 }).toContain("larger than 65536 bytes");
    expect((await editor.inputValue()).length).toBe(65_537);
  });

  it("keep no passphrase once it was used", async () => {
    const opened = await place.open();
    const { page } = opened;
    await opened.visit("wallet");
    await page.getByText("Add a key").click();
    await page.getByLabel("Recovery phrase").fill(await encryptKeyArmor(place.key().privateKey, "for the file"));
    await page.getByLabel("Passphrase of the armor").fill("for the file");
    await page.getByLabel("New passphrase").fill(PASSPHRASE);
    await opened.press("Keep this key");
    await expect.poll(() => opened.text(), { timeout: 20_000 }).toContain("key of this browser");
    await page.locator("summary").filter({ hasText: "Export" }).click();
    await page.getByLabel("Passphrase", { exact: true }).fill(PASSPHRASE);
    await page.getByLabel("Passphrase of the armor").fill("for the file");
    await opened.press("Export or remove");
    await expect.poll(() => opened.text(), { timeout: 30_000 }).toContain("BEGIN TENDERMINT PRIVATE KEY");
    const kept = await page.evaluate('[...document.querySelectorAll("input")].map(({ value }) => value).join("")');
    expect(kept).toBe("");
  });
});

function keysBefore(address: string): TestKey[] {
  const keys: TestKey[] = [];
  for (let at = 0; keys.length < SILENT; at++) {
    const key = testKey(`silent ${at}`);
    if (key.address < address) keys.push(key);
  }
  return keys;
}
