import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { describeWithBrowser, startBrowser } from "../support/chromium.ts";
import { fillMarket, HOSTILE, type ShownMarket } from "../support/console/market.ts";
import { ConsolePage } from "../support/console/page.ts";
import { Fixture, ROOT } from "../support/index.ts";
import { startNode, type TestNode } from "../support/node.ts";
import { freePorts } from "../support/ports.ts";
import { svcOk } from "../support/run-svc.ts";
import { waitFor } from "../support/wait.ts";

const FUNDS = [{ denom: NATIVE_DENOM, amount: 10n ** 12n }];
/** Folder for pictures of every page; `npm run console` sets it. */
const PICTURES = process.env.SVC_CONSOLE_PICTURES;
/** The hostile text as a page may show it. */
const SHOWN = HOSTILE.replace("\u202e", "\\u202e").replace("\u200b", "\\u200b");

describeWithBrowser("the console", () => {
  const fixture = new Fixture();
  const [tenant, provider] = [testKey("tenant"), testKey("provider")];
  let node: TestNode;
  let browser: Browser;
  let shown: ConsolePage;
  let url: string;
  let market: ShownMarket;

  beforeAll(async () => {
    const accounts = [tenant, provider].map(({ address }) => ({ address, coins: FUNDS }));
    const [port] = await freePorts(1);
    const rest = ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`];
    node = await startNode(fixture, { accounts, flags: rest });
    url = `http://127.0.0.1:${port}/console/`;
    const client = node.client();
    market = await fillMarket(client, { tenant, provider });
    client.close();
    browser = await startBrowser();
    fixture.defer(() => browser.close());
    shown = await openConsole();
  });
  afterAll(() => fixture.close());

  async function openConsole(options: Parameters<Browser["newContext"]>[0] = {}): Promise<ConsolePage> {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], ...options });
    const opened = new ConsolePage(await context.newPage(), url);
    await opened.open();
    return opened;
  }

  /** Every page with a text that only the chain's facts give. */
  const pages = (): readonly (readonly [address: string, fact: string])[] => [
    ["", "2 000 0"],
    ["blocks", "1"],
    ["blocks?until=3", "First page"],
    [`block/${market.height}`, "MsgCreateProvider"],
    [`tx/${market.hash}`, "provider.example:8443"],
    [`account/${market.tenant}`, market.validator],
    ["validators", "100 %"],
    [`validator/${market.validator}`, market.tenant],
    ["gov", "Fewer validators"],
    ["gov/1", market.tenant],
    ["providers", "region=eu"],
    [`provider/${market.provider}`, `${market.dseq}/1/1`],
    ["deployments", market.tenant],
    [`deployment/${market.tenant}/${market.dseq}`, market.provider],
    ["network", "svc-test-1"],
    ["search?q=nothing", "Nothing is named nothing."],
    ["nowhere", "No such page"],
  ];

  it("shows every page without a breach of its policy or a barrier", async () => {
    for (const [address, fact] of pages()) {
      await shown.visit(address);
      await expect.poll(() => shown.text(), { message: address }).toContain(fact);
      expect(await shown.barriers(), address).toEqual([]);
      await expect.poll(() => shown.page.locator(".command code").count()).toBe(/search|nowhere/.test(address) ? 0 : 1);
    }
    expect(shown.faults).toEqual([]);
  });

  it("would notice a breach of the policy", async () => {
    const other = await openConsole();
    await other.page.evaluate("document.body.setAttribute('style', 'color: red')");
    await expect.poll(() => other.faults).toContainEqual(expect.stringMatching(/^policy: style-src/));
    await other.page.context().close();
  });

  it("shows texts of strangers as text", async () => {
    const places = [
      `tx/${market.hash}`,
      `validator/${market.validator}`,
      "gov",
      "gov/1",
      `provider/${market.provider}`,
    ];
    for (const place of places) {
      await shown.visit(place);
      await expect.poll(() => shown.text(), { message: place }).toContain(SHOWN);
      expect(await shown.page.locator("main img, main [href^='javascript' i]").count()).toBe(0);
    }
    expect(await shown.page.title()).toBe("Provider – svc");
  });

  it("links to other sites over https, with the whole target in view", async () => {
    await shown.visit(`provider/${market.provider}`);
    const links = shown.page.locator("main a[target=_blank]");
    expect(await links.evaluateAll((all) => all.map((each) => [each.getAttribute("rel"), each.textContent]))).toEqual([
      ["noopener noreferrer", "https://provider.example:8443/"],
      ["noopener noreferrer", "https://provider.example/about"],
    ]);
  });

  it("bounds what a node answers", async () => {
    const events = Array.from({ length: 100_000 }, (_, i) => ({
      type: `event ${i}`,
      attributes: [{ key: "text", value: "x".repeat(i === 0 ? 1_000_000 : 1), index: true }],
    }));
    const other = await openConsole();
    await other.page.route("**/api/rpc", async (route) => {
      const asked: unknown = route.request().postDataJSON();
      const answer = await (await route.fetch()).json();
      if (Array.isArray(asked)) answer[1].result.finalize_block_events = events;
      await route.fulfill({ json: answer });
    });
    await other.visit(`block/${market.height}`);
    await expect.poll(() => other.text()).toContain("99800 more are not shown");
    expect(await other.page.locator(".events details").count()).toBe(200);
    expect((await other.page.locator(".events").textContent())?.length).toBeLessThan(20_000);
    await other.page.unrouteAll({ behavior: "ignoreErrors" });
    await other.page.context().close();
  });

  it("shows what a proposal changes, before and after", async () => {
    await shown.visit("gov/1");
    const row = shown.page.getByRole("row", { name: "staking: max_validators" });
    await expect.poll(() => row.textContent()).toMatch(/max_validators10077$/);
  });

  it("finds heights, hashes, addresses, deployments and orders", async () => {
    const targets = [
      ["2", "#/block/2"],
      [market.hash.toLowerCase(), `#/tx/${market.hash}`],
      [market.tenant, `#/account/${market.tenant}`],
      [market.validator, `#/validator/${market.validator}`],
      [`${market.tenant}/${market.dseq}`, `#/deployment/${market.tenant}/${market.dseq}`],
      [`order/${market.tenant}/${market.dseq}/1/1`, `#/deployment/${market.tenant}/${market.dseq}`],
    ] as const;
    for (const [text, address] of targets) {
      await shown.visit("network");
      await shown.search(text);
      expect(shown.address).toBe(address);
    }
  });

  it("copies the command that shows the same", async () => {
    await shown.visit(`tx/${market.hash}`);
    await shown.press("Copy");
    await expect.poll(() => shown.page.getByRole("button", { name: "Copied" }).count()).toBe(1);
    expect(await shown.page.evaluate("navigator.clipboard.readText()")).toBe(`svc query tx ${market.hash}`);
  });

  it("names commands that the command line takes", async () => {
    const lines = new Set<string>();
    for (const [address] of pages()) {
      await shown.visit(address);
      for (const line of await shown.page.locator(".command code").allTextContents()) lines.add(line);
    }
    expect(lines.size).toBeGreaterThan(12);
    const commands = [...lines].map((line) => [...line.split(" ").slice(1), "--node", node.address]);
    for (let i = 0; i < commands.length; i += 4)
      await Promise.all(commands.slice(i, i + 4).map((words) => svcOk(words)));
  });

  it("warns of a node that serves another chain, or less of this one", async () => {
    const other = await openConsole();
    await other.visit("");
    let change = (text: string): string => text;
    await other.page.routeWebSocket("**/api/rpc/websocket", (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => socket.send(change(String(text))));
    });
    await other.page.reload();
    const notice = other.page.locator(".notice.bad");
    await expect.poll(() => other.state()).toBe("live");
    expect(await notice.count()).toBe(0);
    change = (text) => text.replace(/"height":"\d+"/, '"height":"3"');
    await expect.poll(() => notice.textContent()).toMatch(/it was at \d+ and is at 3 now/);
    change = (text) => text.replace(/"chain_id":"[^"]*"/, '"chain_id":"other-9"');
    await expect.poll(() => notice.textContent()).toContain("it was at svc-test-1 and is at other-9 now");
    await other.page.context().close();
  });

  it("holds live numbers still while paused", async () => {
    await shown.visit("");
    await expect.poll(() => shown.state()).toBe("live");
    await shown.press("Pause");
    const [height, client] = [await shown.height(), node.client()];
    await waitFor(async () => (await client.node.status()).latestHeight > height + 3n, "further blocks");
    client.close();
    expect(await shown.height()).toBe(height);
    await shown.press("Resume");
    await expect.poll(async () => (await shown.height()) > height + 2n).toBe(true);
  });

  it("says what it does not know while the node is gone, and goes on when it is back", async () => {
    await shown.visit("");
    const height = await shown.height();
    await node.process.kill();
    await expect.poll(() => shown.state()).toBe("lost");
    await shown.visit("validators");
    await expect.poll(() => shown.text()).toContain("not known: the node did not answer");
    await node.start();
    await expect.poll(async () => (await shown.height()) > height).toBe(true);
    await expect.poll(() => shown.state()).toBe("live");
    await expect.poll(() => shown.text()).toContain("100 %");
    expect(shown.faults).toEqual([]);
  });

  it.skipIf(PICTURES === undefined)("takes pictures in light, dark and narrow windows", async () => {
    const looks = {
      light: { viewport: { width: 1280, height: 900 } },
      dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" as const },
      narrow: { viewport: { width: 360, height: 740 } },
    };
    for (const [look, options] of Object.entries(looks)) {
      const opened = await openConsole(options);
      const folder = resolve(ROOT, PICTURES ?? "", look);
      mkdirSync(folder, { recursive: true });
      for (const [address] of pages()) {
        await opened.visit(address);
        const name = address.replace(/[/?](?:\w{20,}|\w+=.*)/g, "").replaceAll("/", "-") || "home";
        await opened.page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
        expect(await opened.barriers(), `${look} ${address}`).toEqual([]);
      }
      await opened.page.context().close();
    }
  });
});
