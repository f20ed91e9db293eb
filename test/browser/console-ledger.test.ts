import { afterAll, beforeAll, expect, it } from "vitest";
import { encodeAddress, publicKeyAddress, secp256k1PublicKey } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture } from "../support/index.ts";
import { EmulatedDevice, installHid } from "../support/ledger/index.ts";
import { mustSend, transfer } from "../support/signer.ts";

describeWithBrowser("a hardware device in a browser", () => {
  const fixture = new Fixture();
  const device = new EmulatedDevice();
  let place: ConsolePlace;
  let shown: ConsolePage;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture, { providers: 0 });
    const { publicKey } = await device.keyAt("m/44'/118'/0'/0/0", "svc");
    const address = encodeAddress(publicKeyAddress(secp256k1PublicKey(publicKey)), "account");
    const client = place.node.client();
    await mustSend(client, place.key(), transfer(place.key().address, address, 10_000_000n));
    client.close();
    const page = await (await place.context()).newPage();
    shown = new ConsolePage(page, place.url);
    await installHid(page, device);
    await shown.open();
  });
  afterAll(() => fixture.close());

  it("sends tokens after it has shown the transaction, says what it lacks, and keeps the policy", async () => {
    await shown.visit("wallet");
    await shown.press("Connect a Ledger");
    await expect.poll(() => shown.text()).toContain("Sessions at gateways");
    expect(device.screens).toEqual([]);
    await shown.page.getByLabel("To", { exact: true }).fill(place.key().address);
    await shown.page.getByLabel("Amount in tokens").fill("1.5");
    await shown.press("Send");
    await expect.poll(() => shown.text()).toContain("Show the transaction");
    expect(device.screens).toEqual([expect.stringContaining('"amount":"1500000"')]);
    expect(await shown.barriers()).toEqual([]);
    expect(shown.faults).toEqual([]);
  });

  it("says why it refuses, with the remedy", async () => {
    device.settings.openApp = "Bitcoin";
    await shown.press("Send");
    await expect.poll(() => shown.text()).toContain("the Cosmos app is not open");
    expect(await shown.text()).toContain("open it on the device and try again");
  });
});
