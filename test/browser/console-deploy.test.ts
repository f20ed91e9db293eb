import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type DeploymentRecord, marketReader } from "../../src/client/index.ts";
import { encryptKeyArmor } from "../../src/crypto/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import { MsgCloseDeploymentSchema } from "../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import {
  MsgUpdateProviderSchema,
  Query as ProviderQuery,
} from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { KeplrDouble, KeplrSwitches } from "../support/console/keplr.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture, mustSend, ROOT } from "../support/index.ts";

const TEMPLATE = "A web service";
const WEB = readFileSync(join(ROOT, "examples/web.yaml"), "utf8");
const READY = "Ready, says the provider";
/** Lets each answer of the browser's database come a second late. */
const SLOW_DISK = `Object.defineProperty(IDBTransaction.prototype, "oncomplete", {
  set(tell) { this.addEventListener("complete", () => setTimeout(tell, 1000)); },
})`;

describeWithBrowser("deploying from the console", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let chain: ReturnType<ConsolePlace["node"]["client"]>;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture, { providers: 2 });
    chain = place.node.client();
    fixture.defer(() => chain.close());
  });
  afterAll(() => fixture.close());

  const deployments = (key = place.key()): Promise<readonly DeploymentRecord[]> =>
    marketReader(chain.query).deployments({ owner: key.address, state: "active" });

  async function closeAll(key = place.key()): Promise<void> {
    for (const { dseq } of await deployments(key)) {
      await mustSend(chain, key, packAny(MsgCloseDeploymentSchema, { id: { owner: key.address, dseq } }));
    }
  }

  const shows = (opened: ConsolePage, text: string) =>
    expect.poll(() => opened.text(), { message: text }).toContain(text);

  /** A page whose wallet is connected, with the template in its editor. */
  async function begin(switches: KeplrSwitches = {}, key: TestKey = place.key()) {
    await closeAll(key);
    const { double, opened } = await place.openWithKeplr(switches, { key });
    await opened.visit("deploy");
    await opened.press(TEMPLATE);
    double.asked.length = 0;
    return { double, opened, key };
  }

  const signatures = ({ asked }: KeplrDouble) =>
    asked.map((each) => each.split(" ")[0]).filter((word) => ["text", "direct", "amino"].includes(word ?? ""));

  /** Lets signatures wait until they are answered, as for a person who thinks. */
  function hold(double: KeplrDouble) {
    let answer = (): void => undefined;
    double.switches.slow = new Promise((resolve) => {
      answer = resolve;
    });
    const asked = (...words: string[]) => expect.poll(() => signatures(double)).toEqual(words);
    return { answer: () => answer(), asked };
  }

  /** The page of the address of the first service, opened by a click. */
  async function visitService(opened: ConsolePage): Promise<string | null> {
    const [service] = await Promise.all([
      opened.page.waitForEvent("popup"),
      opened.page.locator("main a[target=_blank]").first().click(),
    ]);
    await service.waitForLoadState();
    const text = await service.textContent("body");
    await service.close();
    return text;
  }

  /** Loads a page again, and connects its wallet where the page asks for it. */
  async function reload(opened: ConsolePage): Promise<void> {
    await opened.page.reload();
    await opened.press("Connect Keplr");
  }

  describe("with everybody there", () => {
    it("takes a template to an answering page within four clicks, by the fewest signatures", async () => {
      const { double, opened } = await begin();
      await opened.press("Deploy");
      await shows(opened, READY);
      expect(await visitService(opened)).toContain("hello from web-0");
      // The session at gateways, the order, and the lease at a bid that was not known before.
      expect(signatures(double)).toEqual(["text", "direct", "direct"]);
      expect((await deployments()).length).toBe(1);
      expect(await opened.barriers()).toEqual([]);
      expect(opened.faults).toEqual([]);
    });

    it("takes an own image, and the bid that its owner chooses, by a wallet that signs amino JSON alone", async () => {
      const { double, opened } = await begin({ aminoOnly: true });
      await opened.write(WEB.replace(/image: .*/, "image: registry.example.com/own:7"));
      await shows(opened, "registry.example.com/own:7");
      await opened.page.getByLabel("I choose among the bids").check();
      await opened.press("Deploy");
      const [, dearer] = place.providers;
      const accept = opened.page.getByRole("button", { name: `Accept the bid of ${dearer?.address}` });
      await accept.waitFor();
      expect((await opened.page.locator("main table").allTextContents()).join()).toMatch(/TOKEN(?!.*utoken)/);
      await opened.picture("deploying");
      await accept.click();
      await shows(opened, READY);
      expect(signatures(double)).toEqual(["text", "amino", "amino"]);
      const [deployment] = await deployments();
      const leases = await marketReader(chain.query).leases({
        owner: place.key().address,
        dseq: deployment?.dseq ?? 0n,
      });
      expect(leases.map(({ id }) => id.provider)).toEqual([dearer?.address]);
      expect(opened.faults).toEqual([]);
    });

    it("signs with a key of the keyring after two questions at the terminal", async () => {
      await closeAll();
      const terminal = await place.console();
      const opened = await place.openAt(terminal);
      await opened.visit("deploy");
      await opened.press(TEMPLATE);
      await opened.press("Deploy");
      expect(await terminal.agree()).toContain("MsgCreateDeployment");
      expect(await terminal.agree()).toContain("MsgCreateLease");
      await shows(opened, READY);
      expect(terminal.screen).toContain("session of tenant");
      expect(terminal.screen.match(/to agree, anything/g)?.length).toBe(2);
      expect(opened.faults).toEqual([]);
    });

    it("has its key and its blocks although a network that changed cut off their files", async () => {
      const opened = await place.openAt(await place.console());
      const cut = new Set<string>();
      await opened.page.route(/\/(api\/session|assets\/(\w+-worker|wallet|keyring)-\w+\.js)$/, (route) => {
        const known = cut.size;
        return cut.add(route.request().url()).size === known ? route.continue() : route.abort("connectionreset");
      });
      await opened.open();
      await opened.page.evaluate("globalThis.isSamePage = true");
      await expect.poll(() => opened.state()).toBe("live");
      await opened.visit("deploy");
      await opened.press(TEMPLATE);
      await opened.page.getByRole("button", { name: "Deploy", exact: true }).waitFor();
      expect(await opened.page.evaluate("globalThis.isSamePage")).toBe(true);
      expect([...cut].map((url) => /(\w+)(-\w+\.js)?$/.exec(url)?.[1]).sort()).toEqual([
        "keyring",
        "session",
        "wallet",
        "worker",
      ]);
      expect(opened.faults).toEqual([]);
    });

    it("can be done by keys alone", async () => {
      await closeAll();
      const { opened } = await place.openWithKeplr();
      await opened.visit("deploy");
      const { keyboard } = opened.page;
      /** Moves on until something of this name has the focus. */
      const reach = async (name: string): Promise<void> => {
        for (let steps = 0; steps < 100; steps++) {
          await keyboard.press("Tab");
          const focused = opened.page.locator(":focus");
          if ((await focused.count()) === 1 && (await focused.textContent())?.trim() === name) return;
        }
        throw new Error(`the keys do not reach ${name}`);
      };
      await reach(TEMPLATE);
      await keyboard.press("Enter");
      await opened.page.locator("main").getByRole("button", { name: "Deploy", exact: true }).waitFor();
      await reach("Deploy");
      await keyboard.press("Enter");
      await shows(opened, READY);
    });
  });

  it("says that the wallet has refused, and asks again when its owner wants to go on", async () => {
    const { double, opened } = await begin({ rejects: true });
    const button = opened.page.locator("main").getByRole("button", { name: "Deploy", exact: true });
    await button.waitFor();
    // As fast as two clicks can be.
    await opened.page.evaluate(
      "document.querySelectorAll('main form.act').forEach((f) => [f.requestSubmit(), f.requestSubmit()])",
    );
    await shows(opened, "It has stopped");
    await shows(opened, "the wallet has refused");
    double.switches.rejects = false;
    await opened.press("Go on");
    await shows(opened, READY);
    expect(signatures(double)).toEqual(["text", "text", "direct", "direct"]);
    expect((await deployments()).length).toBe(1);
    await opened.page.setViewportSize({ width: 360, height: 740 });
    expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  });

  it("signs with a key of the browser, and asks for its passphrase after the page was loaded again", async () => {
    await closeAll();
    const opened = await place.open();
    const { page } = opened;
    await opened.visit("deploy");
    await opened.press(TEMPLATE);
    await page.locator("main").getByRole("link", { name: "Connect a wallet to sign" }).click();
    await page.getByText("Add a key").click();
    await page.getByLabel("Recovery phrase").fill(await encryptKeyArmor(place.key().privateKey, "for the file"));
    await page.getByLabel("Passphrase of the armor").fill("for the file");
    await page.getByLabel("New passphrase").fill("correct horse");
    await opened.press("Keep this key");
    await shows(opened, "key of this browser");
    await page.goBack();
    await page.route("**/manifest", (route) => route.abort());
    await opened.press("Deploy");
    await shows(opened, "Waiting for the provider to accept the manifest");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.reload();
    await page.getByLabel("Passphrase", { exact: true }).fill("correct horse");
    await opened.press("Unlock");
    await shows(opened, READY);
    expect((await deployments()).length).toBe(1);
    expect(opened.faults).toEqual([]);
  });

  describe("with no provider that the page reaches", () => {
    const BEYOND = "No provider that may bid has a gateway that this page can reach";

    /** Gives the providers an address for browsers, or takes it from them; the others of their attributes stay. */
    async function publish(isForBrowsers: boolean): Promise<void> {
      for (const [at, { address: owner, webGateway }] of place.providers.entries()) {
        const { provider } = await chain.query.call(ProviderQuery.method.provider, { owner });
        const others = (provider?.attributes ?? []).filter(({ key }) => key !== "web-gateway");
        const attributes = [...others, ...(isForBrowsers ? [{ key: "web-gateway", value: webGateway }] : [])];
        const update = { owner, hostUri: provider?.hostUri ?? "", attributes, info: {} };
        await mustSend(chain, testKey(`provider-${at}`), packAny(MsgUpdateProviderSchema, update));
      }
    }

    it("says so with the remedy, and signs nothing", async () => {
      const { double, opened } = await begin();
      await opened.page.locator("main").getByRole("button", { name: "Deploy", exact: true }).waitFor();
      await publish(false);
      onTestFinished(() => publish(true));
      // The page knows the providers as they were: the run looks again before its first signature.
      await opened.press("Deploy");
      await shows(opened, BEYOND);
      await shows(opened, "svc console");
      await opened.press("Forget it");
      await opened.visit("providers");
      await opened.visit("deploy");
      await shows(opened, BEYOND);
      await shows(opened, "svc console");
      expect(await opened.page.locator("main form.act").count()).toBe(0);
      expect(signatures(double)).toEqual([]);
      expect(await deployments()).toEqual([]);
      expect(opened.faults).toEqual([]);
    });

    it("shows the remedy and the way to close while a run waits for such a gateway", async () => {
      const { double, opened } = await begin();
      const session = hold(double);
      await opened.press("Deploy");
      await session.asked("text");
      const order = hold(double);
      session.answer();
      await order.asked("text", "direct");
      await publish(false);
      onTestFinished(() => publish(true));
      order.answer();
      delete double.switches.slow;
      await shows(opened, "Waiting for the gateway of a provider");
      await shows(opened, "This page cannot reach the gateway of this provider");
      await shows(opened, "svc console");
      const [deployment] = await deployments();
      await opened.page.getByRole("link", { name: "Close the deployment for its refund" }).click();
      await expect.poll(() => opened.address).toContain(`/${deployment?.dseq}`);
      await shows(opened, "Close the deployment");
      await closeAll();
      await opened.page.context().close();
    });
  });

  describe("interrupted", () => {
    it("goes on after each reload, and pays once", async () => {
      const { double, opened } = await begin();
      // While the wallet asks about the session, and about the order.
      const session = hold(double);
      await opened.press("Deploy");
      await session.asked("text");
      const order = hold(double);
      session.answer();
      await order.asked("text", "direct");
      await opened.page.reload();
      order.answer();
      delete double.switches.slow;
      // The order is sent, and the page has not heard of it.
      const cut = "**/api/rpc**";
      await opened.page.route(cut, async (route) => {
        const isSent = route.request().postData()?.includes("broadcast_tx") === true;
        if (!isSent) return route.continue();
        await route.fetch();
        return route.abort();
      });
      // A provider that is quick would bid before it is halted.
      for (const { daemon } of place.providers) await daemon.halt();
      await opened.press("Connect Keplr");
      await expect.poll(async () => (await deployments()).length).toBe(1);
      await opened.page.unrouteAll({ behavior: "ignoreErrors" });
      await reload(opened);
      await shows(opened, "Waiting for bids of providers");
      await reload(opened);
      await shows(opened, "Waiting for bids of providers");
      // The wallet asks about the lease.
      double.asked.length = 0;
      for (const { daemon } of place.providers) await daemon.start();
      const lease = hold(double);
      await lease.asked("direct");
      await opened.page.reload();
      lease.answer();
      delete double.switches.slow;
      // The manifest does not arrive.
      await opened.page.route("**/manifest", (route) => route.abort());
      await opened.press("Connect Keplr");
      await shows(opened, "Waiting for the provider to accept the manifest");
      await opened.page.unrouteAll({ behavior: "ignoreErrors" });
      await opened.page.route("**/lease/*/1/1/status", (route) => route.abort());
      await reload(opened);
      await shows(opened, "Waiting for the services to run");
      await opened.page.unrouteAll({ behavior: "ignoreErrors" });
      await reload(opened);
      await shows(opened, READY);
      expect((await deployments()).length).toBe(1);
      await opened.page.reload();
      await shows(opened, "Addresses when it was ready");
      expect(opened.faults).toEqual([]);
    });

    it("names what it waits for while the node is gone, and signs nothing twice", async () => {
      const { double, opened } = await begin();
      const held = hold(double);
      await opened.press("Deploy");
      await held.asked("text");
      const order = hold(double);
      held.answer();
      await order.asked("text", "direct");
      await place.node.process.kill();
      order.answer();
      delete double.switches.slow;
      await shows(opened, "Trying again until it is back.");
      for (const { daemon } of place.providers) await daemon.halt();
      await place.node.start();
      await shows(opened, "Waiting for bids of providers");
      await place.node.process.kill();
      await shows(opened, "Waiting for the node");
      await place.node.start();
      for (const { daemon } of place.providers) await daemon.start();
      await shows(opened, READY);
      expect(signatures(double)).toEqual(["text", "direct", "direct"]);
      expect((await deployments()).length).toBe(1);
    });

    it("goes on when its provider is back, at the gateway, with the manifest and with the services", async () => {
      const { opened } = await begin();
      await opened.page.getByLabel("I choose among the bids").check();
      await opened.page.route("**/version", (route) => route.abort());
      await opened.press("Deploy");
      await shows(opened, "Waiting for the gateway of a provider");
      await opened.page.unrouteAll({ behavior: "ignoreErrors" });
      // The first gateways that answer are those whose bids can be accepted.
      const accept = opened.page.getByRole("button", { name: /^Accept the bid of/, disabled: false }).first();
      const label = await accept.getAttribute("aria-label");
      const chosen = place.providers.find(({ address }) => label?.includes(address));
      await opened.page.route("**/manifest", (route) => route.abort());
      await accept.click();
      await shows(opened, "Waiting for the provider to accept the manifest");
      expect((await opened.text()).match(/to accept the manifest/g)).toHaveLength(1);
      await chosen?.daemon.halt();
      await opened.page.unrouteAll({ behavior: "ignoreErrors" });
      await opened.page.route("**/lease/*/1/1/status", (route) => route.abort());
      await chosen?.daemon.start();
      await shows(opened, "Waiting for the services to run");
      await chosen?.daemon.halt();
      await opened.page.unrouteAll({ behavior: "ignoreErrors" });
      await shows(opened, "an answer of the provider");
      await chosen?.daemon.start();
      await shows(opened, READY);
      expect((await deployments()).length).toBe(1);
    });
  });

  describe("elsewhere", () => {
    /** A page that waits for bids while no provider runs. */
    async function waiting() {
      const begun = await begin();
      for (const { daemon } of place.providers) await daemon.halt();
      await begun.opened.press("Deploy");
      await shows(begun.opened, "Waiting for bids of providers");
      const [deployment] = await deployments();
      return { ...begun, dseq: deployment?.dseq ?? 0n };
    }

    const startProviders = async (): Promise<void> => {
      for (const { daemon } of place.providers) await daemon.start();
    };

    it("lets one of two tabs act, and the other one when that is closed", async () => {
      const { opened } = await waiting();
      const second = await place.openWithKeplr({}, { context: opened.page.context() });
      await second.opened.visit(opened.address.slice(2));
      await shows(second.opened, "Another tab of this browser works on this deployment");
      second.double.asked.length = 0;
      await opened.page.close();
      await startProviders();
      await shows(second.opened, READY);
      // The session of the first tab serves the second.
      expect(signatures(second.double)).toEqual(["direct"]);
      expect((await deployments()).length).toBe(1);
    });

    it("is begun once by two tabs at the same time, and goes on in none once its owner has forgotten it", async () => {
      const { opened: first } = await begin({ rejects: true });
      const { opened: second } = await place.openWithKeplr({ rejects: true }, { context: first.page.context() });
      await second.visit("deploy");
      await second.press(TEMPLATE);
      const tabs = [first, second];
      const form = "main form.act";
      await Promise.all(tabs.map(({ page }) => page.locator(form).waitFor()));
      await Promise.all(tabs.map(({ page }) => page.evaluate(SLOW_DISK)));
      await Promise.all(tabs.map(({ page }) => page.evaluate(`document.querySelector("${form}").requestSubmit()`)));
      await Promise.all(tabs.map((tab) => expect.poll(() => tab.address).toContain("deploying")));
      expect(second.address).toBe(first.address);
      const stopped = tabs.map((tab) =>
        tab.page
          .getByText("It has stopped")
          .waitFor()
          .then(() => tab),
      );
      const acting = await Promise.race(stopped);
      const waiting = acting === first ? second : first;
      await acting.press("Forget it");
      await expect.poll(() => acting.address).toBe("#/deploy");
      await acting.page.close();
      await shows(waiting, "This browser keeps no such deployment");
      await Promise.allSettled(stopped);
    });

    it("goes on in another browser with the file of the deployment, and with no other", async () => {
      const { opened, key, dseq } = await waiting();
      await opened.page.context().close();
      const other = await place.openWithKeplr();
      await other.opened.visit(`deployment/${key.address}/${dseq}`);
      await other.opened.page.getByText("Go on with this deployment").click();
      const give = (text: string) =>
        other.opened.page
          .locator(".continue input[type=file]")
          .setInputFiles({ name: "mine.yaml", mimeType: "text/plain", buffer: Buffer.from(text) });
      await give(WEB.replace(/image: .*/, "image: registry.example.com/other:1"));
      await shows(other.opened, "This is another file: its hash is not the one on the chain.");
      await give("version: '2.0'\nservices: 5\n");
      await shows(other.opened, "The file has faults");
      await give(WEB);
      await startProviders();
      await shows(other.opened, READY);
      expect((await deployments()).length).toBe(1);
      expect(other.opened.faults).toEqual([]);
    });

    it("makes no other deployment in the place of one that was closed elsewhere", async () => {
      const { opened } = await waiting();
      await closeAll();
      await shows(opened, "has closed: no bid to accept");
      await opened.press("Go on");
      await shows(opened, "the deployment is closed");
      await opened.press("Go on");
      await shows(opened, "the deployment is closed");
      await opened.press("Forget it");
      await expect.poll(() => opened.address).toBe("#/deploy");
      expect(await opened.text()).not.toContain("Unfinished here");
      expect(await deployments()).toEqual([]);
      await startProviders();
    });
  });
});
