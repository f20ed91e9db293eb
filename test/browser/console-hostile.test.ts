import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ChainClient } from "../../src/client/index.ts";
import { encryptKeyArmor } from "../../src/crypto/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import { toBase64 } from "../../src/util/index.ts";
import { AuthInfoSchema, TxBodySchema } from "../../src/wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { encodeMessage, encodeTx, packAny, txHash } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { ConsolePage } from "../support/console/page.ts";
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
    const chain = client();
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
    await expect.poll(() => opened.page.locator(".state.good").count()).toBe(1);
    expect(opened.faults).toEqual([]);
  });

  it("take no more of a pasted text than shows that it is too large", async () => {
    const opened = await place.open();
    await opened.visit("deploy");
    const { page } = opened;
    await page.evaluate('navigator.clipboard.writeText("a: b\\n".repeat(200_000))');
    await opened.editor.focus();
    await page.keyboard.press("Control+V");
    await expect.poll(() => opened.text()).toContain("larger than 65536 bytes");
    await page.keyboard.type("# behind the end");
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Control+C");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("a: b\n".repeat(13_108).slice(0, 65_537));
  });

  /** A client of the place's node. */
  function client(): ChainClient {
    const chain = new ChainClient(place.node.address.replace("tcp:", "http:"));
    fixture.defer(async () => chain.close());
    return chain;
  }

  /** Stands between a page and the worker that follows its blocks: `pass` says when the page hears of an item. */
  async function between(opened: ConsolePage, pass: string): Promise<void> {
    await opened.page.addInitScript(`globalThis.Worker = class extends Worker {
      set onmessage(listener) {
        super.onmessage = ({ data }) => (${pass})(data, (item) => listener({ data: item }));
      }
    };`);
    await opened.page.reload();
  }

  it("catch up with a block that they were not told of", async () => {
    const opened = await place.open();
    await between(
      opened,
      "(item, hear) => { if (item.block?.count > 0) globalThis.isWithheld = true; else hear(item); }",
    );
    await opened.visit("");
    await expect.poll(() => opened.state()).toBe("live");
    const { address } = place.key();
    const { txhash } = await mustSend(client(), place.key(), transfer(address, place.key("neighbour").address, 1n));
    await expect.poll(() => opened.page.locator(`a[title="${txhash}"]`).count()).toBe(1);
    expect(await opened.page.evaluate("globalThis.isWithheld")).toBe(true);
  });

  it("say why no block comes, until one does", async () => {
    const opened = await place.open();
    const refusal = '{ kind: "lost", reason: "max_subscription_clients 100 reached" }';
    await between(opened, `(item, hear) => { if (globalThis.hasRoom) hear(item); else hear(${refusal}); }`);
    await expect.poll(() => opened.state()).toBe("lost");
    await expect.poll(() => opened.page.locator(".notice").textContent()).toContain("max_subscription_clients");
    await opened.page.evaluate("globalThis.hasRoom = true");
    await expect.poll(() => opened.state()).toBe("live");
    expect(opened.faults).toEqual([]);
  });

  it.each([
    ["ahead of", 600_000],
    ["behind", -600_000],
  ])("say that the clock of the device is %s the chain, with the remedy", async (word, shift) => {
    const opened = await place.open();
    await opened.page.addInitScript(`const now = Date.now; Date.now = () => now() + ${shift};`);
    await opened.page.reload();
    const notice = opened.page.locator(".notice.bad");
    await expect
      .poll(() => notice.textContent())
      .toMatch(new RegExp(`${word} the newest block.*let the system set it`));
    expect(opened.faults).toEqual([]);
  });

  it("bound a transaction of a hundred thousand messages, and an amount of a million digits", async () => {
    const messages = Array.from({ length: 100_000 }, () => ({ typeUrl: "/a.B", value: new Uint8Array() }));
    const fee = { amount: [{ denom: "utoken", amount: "9".repeat(1_000_000) }], gasLimit: 1n };
    const bodyBytes = encodeMessage(TxBodySchema, create(TxBodySchema, { messages }));
    const authInfoBytes = encodeMessage(AuthInfoSchema, create(AuthInfoSchema, { fee }));
    const bytes = encodeTx({ bodyBytes, authInfoBytes }, []);
    const hash = txHash(bytes);
    const result = {
      hash,
      height: "2",
      index: 0,
      tx: toBase64(bytes),
      tx_result: { code: 0, gas_used: "1", gas_wanted: "1" },
    };
    const opened = await place.open();
    await opened.page.route("**/api/rpc", async (route) => {
      const asked: unknown = route.request().postDataJSON();
      const isTx = typeof asked === "object" && asked !== null && Reflect.get(asked, "method") === "tx";
      if (!isTx) return route.continue();
      await route.fulfill({ json: { jsonrpc: "2.0", id: Reflect.get(asked, "id"), result } });
    });
    await opened.visit(`tx/${hash}`);
    await expect.poll(() => opened.text()).toContain("99800 more are not shown");
    expect((await opened.text()).length).toBeLessThan(50_000);
    expect(opened.faults).toEqual([]);
    await opened.page.unrouteAll({ behavior: "ignoreErrors" });
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
    await expect.poll(() => opened.text()).toContain("key of this browser");
    await page.locator("summary").filter({ hasText: "Export" }).click();
    await page.getByLabel("Passphrase", { exact: true }).fill(PASSPHRASE);
    await page.getByLabel("Passphrase of the armor").fill("for the file");
    await opened.press("Export or remove");
    await expect.poll(() => opened.text()).toContain("BEGIN TENDERMINT PRIVATE KEY");
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
