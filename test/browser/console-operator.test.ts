import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ChainClient } from "../../src/client/index.ts";
import { parseScales, scalePricing } from "../../src/provider/pricing/index.ts";
import { loadSdl } from "../../src/sdl/index.ts";
import { type TestNode, testNode } from "../../src/testing/index.ts";
import { MsgCreateBidSchema, MsgCreateLeaseSchema } from "../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgCreateProviderSchema } from "../../src/wire/gen/svc/provider/v1beta1/provider_pb.js";
import { type LeaseKey, packAny } from "../../src/wire/index.ts";
import { coin, MIN_DEPOSIT, price } from "../support/chain/index.ts";
import { describeWithBrowser, openPage, startBrowser } from "../support/chromium.ts";
import { ConsolePage } from "../support/console/page.ts";
import { ConsoleTerminal, UNHURRIED } from "../support/console/place.ts";
import { Fixture, runSvc, waitFor } from "../support/index.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../support/provider/daemon.ts";
import { sampleDeployment, sampleFile } from "../support/provider/deployment.ts";
import { mustSend } from "../support/signer.ts";

/** Prices by which the sample deployment costs 1 a block. */
const PRICES = { cpu: "0.01", memory: "0", storage: "0", endpoint: "0", ip: "0", tokenUsd: "" };

/** A deployment that asks for an attribute that the provider does not have. */
const foreign = loadSdl(sampleFile().replace('"pricing"', '"attributes": {"region": "mars"}, "pricing"'));

describeWithBrowser("the page of a provider's operator", () => {
  const fixture = new Fixture();
  let node: TestNode;
  let daemon: TestDaemon;
  let terminal: ConsoleTerminal;
  let browser: Browser;
  let home = "";
  let shown: ConsolePage;
  /** Words of `svc console` beside those about the provider. */
  let console_: string[];
  let [won, lost, declined]: LeaseKey[] = [];

  beforeAll(async () => {
    node = await testNode({ blockIntervalMs: UNHURRIED.blockIntervalMs });
    fixture.defer(() => node.stop());
    home = fixture.tempHome("provider");
    mkdirSync(join(home, "provider"));
    const config = { ...quietConfig(join(home, "provider")), pricing: scalePricing(parseScales(PRICES), PRICES) };
    const examine = async () => [
      { check: "node", state: "ok" as const, detail: "test-1" },
      { check: "disk", state: "failed" as const, detail: "3 MiB free", fix: "make room" },
    ];
    const nodePorts = { first: 40_000, last: 40_001 };
    daemon = new TestDaemon(await testMarketplace(node), { config, nodePorts, examine });
    fixture.defer(() => daemon.stop());
    await daemon.start();
    won = await daemon.deploy(sampleDeployment());
    lost = await daemon.deploy(sampleDeployment(), node.key("carol"));
    declined = await daemon.deploy(foreign);
    await waitFor(async () => (await daemon.chain.bid(lost ?? never()))?.state === "open", "the bids");
    await daemon.lease(won);
    await otherWins(lost);
    console_ = [
      "console",
      "--node",
      node.url.replace("http", "tcp"),
      "-o",
      "json",
      "--home",
      fixture.tempHome("console"),
    ];
    terminal = new ConsoleTerminal([...console_, "--provider", home], join(fixture.tempHome("out"), "link.json"));
    fixture.defer(() => terminal.kill());
    await terminal.ready();
    browser = await startBrowser();
    fixture.defer(() => browser.close());
    shown = await openAt(terminal.link);
  });
  afterAll(() => fixture.close());

  async function openAt(link: string): Promise<ConsolePage> {
    const page = await (await browser.newContext()).newPage();
    await openPage(page, link);
    const opened = new ConsolePage(page, new URL("/console/", link).href);
    await opened.open();
    return opened;
  }

  /** Another provider bids a tenth, and gets the lease. */
  async function otherWins(order: LeaseKey): Promise<void> {
    const client = new ChainClient(node.url);
    fixture.defer(() => client.close());
    const [other, tenant] = [node.key("dave"), node.key("carol")];
    const provider = other.address;
    const bidId = { ...order, provider };
    const { provider: _, ...id } = order;
    const bid = { order: id, provider, price: price("0.1"), deposit: coin(MIN_DEPOSIT) };
    const record = { owner: provider, hostUri: "https://other.example:8443" };
    await mustSend(client, other, packAny(MsgCreateProviderSchema, record), packAny(MsgCreateBidSchema, bid));
    await mustSend(client, tenant, packAny(MsgCreateLeaseSchema, { bidId }));
  }

  function never(): never {
    throw new Error("the deployment was not made");
  }

  const nameOf = ({ dseq }: LeaseKey = never()): string => `${dseq}/1/1`;

  it("says in two clicks why an order was declined or lost, with the winner's price beside the own", async () => {
    await shown.page.getByRole("link", { name: "Your provider" }).click();
    await shown.page.locator("summary", { hasText: nameOf(declined) }).click();
    const opened = shown.page.locator("details[open]");
    await expect.poll(() => opened.textContent()).toContain("attributes");
    expect(await opened.textContent()).toContain(`svc provider why ${declined?.owner}/${declined?.dseq}/1/1`);
    const other = shown.page.locator("details", { hasText: nameOf(lost) });
    await other.locator("summary").click();
    const text = await other.textContent();
    expect(text).toMatch(/Your price a block1.*winner's price a block0\.1 10 % of your price/);
    expect(await shown.page.locator("details", { hasText: nameOf(won) }).count()).toBe(0);
  });

  it("shows room, leases, income and checks, live", async () => {
    await expect.poll(() => shown.text()).toContain("3 MiB free");
    const text = await shown.text();
    for (const each of ["make room", "1 failed", "7.9 of 8", "Earned, not yet withdrawn", won?.owner ?? never()])
      expect(text).toContain(each);
    await shown.picture("operator");
    const order = await daemon.deploy(sampleDeployment());
    await shown.page.getByRole("link", { name: "all", exact: true }).click();
    await expect.poll(() => shown.text()).toContain(nameOf(order));
  });

  it("computes bids at other prices, and changes them after a question at the terminal", async () => {
    const { page } = shown;
    await page.getByLabel("A thousandth of a core").fill("0.0005");
    await shown.press("See bids at these prices");
    const bids = page.getByRole("region", { name: "Bids on the latest orders" });
    await expect.poll(() => bids.textContent()).toContain(`${nameOf(lost)}10.050.1`);
    await shown.press("Change prices");
    expect(await terminal.refuse()).toContain('{"cpu":"0.0005"}');
    await expect.poll(() => shown.text()).toContain("its user has refused");
    await shown.press("Change prices");
    await terminal.agree();
    await expect.poll(() => shown.text()).toContain("cpu 0.0005/mcpu");
    expect(await shown.text()).toContain("The new prices are in force");
  });

  it("asks on a page of its own with --confirm page, which takes the code of the terminal alone", async () => {
    const idle = await runSvc([...console_, "--confirm", "page"]);
    expect([idle.stdout, idle.stderr]).toEqual([
      "",
      expect.stringContaining("nothing to ask without --from or --provider"),
    ]);
    const asking = await fixture.start("confirm", [...console_, "--provider", home, "--confirm", "page"]);
    const { url, confirm } = JSON.parse(await asking.line(/^\{/));
    const opened = await openAt(url);
    const questions = await opened.page.context().newPage();
    await openPage(questions, confirm);
    await opened.visit("provider");
    const { page } = opened;
    const changeTo = async (price: string, code: (shown: string) => string): Promise<void> => {
      await page.getByLabel("A thousandth of a core").fill(price);
      await opened.press("Change prices");
      await expect.poll(() => questions.textContent("main")).toContain(`{"cpu":"${price}"}`);
      const codes = [...asking.output.matchAll(/agree: (\w{6})/g)];
      await questions.getByLabel("Code").fill(code(codes.at(-1)?.[1] ?? ""));
      await questions.getByRole("button", { name: "Agree" }).click();
    };
    await changeTo("0.002", () => "222222");
    await expect.poll(() => questions.textContent("main")).toContain("not the code");
    await expect.poll(() => opened.text()).toContain("its user has refused");
    await questions.getByRole("link").click();
    await changeTo("0.003", (code) => code);
    await expect.poll(() => opened.text()).toContain("cpu 0.003/mcpu");
    expect(opened.faults).toEqual([]);
  });

  it("says that the provider is down, and comes back by itself", async () => {
    await daemon.halt();
    await expect.poll(() => shown.text()).toContain("start it with svc provider run");
    await daemon.start();
    await expect.poll(() => shown.text()).toContain("Running since");
  });

  it("keeps the policy, has no barriers, and is a sentence without --provider", async () => {
    expect(await shown.barriers()).toEqual([]);
    expect(shown.faults).toEqual([]);
    const plain = await fixture.start("plain", console_);
    const other = await openAt(JSON.parse(await plain.line(/^\{/)).url);
    await other.visit("provider");
    expect(await other.text()).toContain("svc console --provider HOME");
    expect(await other.page.getByRole("link", { name: "Your provider" }).count()).toBe(0);
  });
});
