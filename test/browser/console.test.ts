import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { encryptKeyArmor } from "../../src/crypto/index.ts";
import { formatIssue, loadSdl, SdlError } from "../../src/sdl/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { Query as DeploymentQuery } from "../../src/wire/gen/svc/deployment/v1beta1/query_pb.js";
import { runCli } from "../cli/run.ts";
import { MIN_DEPOSIT } from "../support/chain/index.ts";
import { describeWithBrowser, startBrowser } from "../support/chromium.ts";
import { installKeplr, KeplrDouble, type KeplrSwitches } from "../support/console/keplr.ts";
import { fillMarket, HOSTILE, type ShownMarket } from "../support/console/market.ts";
import { ConsolePage } from "../support/console/page.ts";
import { UNHURRIED } from "../support/console/place.ts";
import { Fixture, ROOT } from "../support/index.ts";
import { startNode, type TestNode } from "../support/node.ts";
import { freePorts } from "../support/ports.ts";
import { runSvc } from "../support/run-svc.ts";
import { waitFor } from "../support/wait.ts";

const FUNDS = [{ denom: NATIVE_DENOM, amount: 10n ** 12n }];
/** Folder for pictures of every page; `npm run console` sets it. */
const PICTURES = process.env.SVC_CONSOLE_PICTURES;
const WEB = readFileSync(join(ROOT, "examples/web.yaml"), "utf8");
/** The hostile text as a page may show it. */
const SHOWN = HOSTILE.replace("\u202e", "\\u202e").replace("\u200b", "\\u200b");

/** Sentences of svc sdl validate about a text. */
function faultsOf(text: string): readonly string[] {
  try {
    loadSdl(text, { file: "web.yaml" });
    return [];
  } catch (error) {
    return error instanceof SdlError ? error.issues.map(formatIssue) : [String(error)];
  }
}

describeWithBrowser("the console", () => {
  const fixture = new Fixture();
  const [tenant, provider] = [testKey("tenant"), testKey("provider")];
  let node: TestNode;
  let browser: Browser;
  let shown: ConsolePage;
  let url: string;
  let market: ShownMarket;
  /** Commands that the pages show; the test that visits all pages finds them by the way. */
  const lines = new Set<string>();

  beforeAll(async () => {
    const accounts = [tenant, provider].map(({ address }) => ({ address, coins: FUNDS }));
    const [port] = await freePorts(1);
    const rest = ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`];
    node = await startNode(fixture, { ...UNHURRIED, accounts, flags: rest });
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

  /** The console with a wallet of the tenant, connected. */
  async function openWithWallet(switches: KeplrSwitches = {}) {
    const double = new KeplrDouble(tenant, switches);
    const context = await browser.newContext();
    const opened = new ConsolePage(await context.newPage(), url);
    await installKeplr(opened.page, double);
    await opened.open();
    await opened.visit("wallet");
    await opened.press("Connect Keplr");
    await expect.poll(() => opened.text()).toContain("wallet of this browser");
    return { double, opened };
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
    ["deploy", "A service with a volume"],
    ["deploying/nothing", "This browser keeps no such deployment."],
    ["network", "svc-test-1"],
    ["search?q=nothing", "Nothing is named nothing."],
    ["wallet", "Wallets of this browser"],
    ["nowhere", "No such page"],
  ];

  it("shows every page without a breach of its policy or a barrier", async () => {
    for (const [address, fact] of pages()) {
      await shown.visit(address);
      await expect.poll(() => shown.text(), { message: address }).toContain(fact);
      expect(await shown.barriers(), address).toEqual([]);
      const commands = shown.page.locator(".command code");
      await expect.poll(() => commands.count()).toBe(/search|wallet|deploying|nowhere/.test(address) ? 0 : 1);
      for (const line of await commands.allTextContents()) lines.add(line);
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

  it("shows every fault of a deployment file with its place, as svc sdl validate does", async () => {
    await shown.visit("deploy");
    await shown.press("A web service");
    await expect.poll(() => shown.file()).toBe(WEB);
    const broken = WEB.replace("count: 1", "count: 0").replace("size: 32Mi", "size: 32mb");
    await shown.write(broken);
    const sentences = faultsOf(broken);
    expect(sentences.length).toBe(2);
    await expect.poll(() => shown.page.locator(".remarks .strange").allTextContents()).toEqual(sentences);
    expect(await shown.barriers()).toEqual([]);
    await shown.press("Line 43");
    await shown.page.keyboard.type("2");
    await shown.page.keyboard.press("Delete");
    expect(await shown.file()).toBe(broken.replace("count: 0", "count: 2"));
    await expect.poll(() => shown.page.locator(".remarks li").count()).toBe(1);
    expect(await shown.page.locator(".command code").textContent()).toBe("svc deploy web.yaml --estimate");
  });

  it("opens a file, and refuses one that is no text", async () => {
    await shown.visit("deploy");
    const opener = shown.page.getByLabel("Open a file");
    await opener.setInputFiles({ name: HOSTILE, mimeType: "text/plain", buffer: Buffer.from("version: 1") });
    await expect.poll(() => shown.page.locator(".remarks .strange").first().textContent()).toContain(SHOWN);
    await opener.setInputFiles({ name: "bytes.yaml", mimeType: "text/plain", buffer: Buffer.from([0x61, 0xff]) });
    await expect.poll(() => shown.text()).toContain("bytes.yaml:1:2: the file is not UTF-8 text; save it as UTF-8");
    expect(await shown.page.locator("main img").count()).toBe(0);
  });

  it("says that it does not know the price of a provider that a page cannot reach", async () => {
    await shown.visit("deploy");
    await shown.press("A web service");
    const row = shown.page.getByRole("row", { name: market.provider });
    await expect.poll(() => row.textContent()).toContain("not knownthis page cannot reach its gateway");
    expect(await row.locator(".amount").count()).toBe(0);
    const most = shown.page.getByRole("row", { name: "At most, by the prices of the file" });
    await shown.page.getByLabel("Deposit in TOKEN").fill("0.5");
    await expect.poll(() => most.textContent()).toMatch(/ TOKEN.* TOKEN.* TOKEN\d+(?:\.\d)? (?:minutes|hours)$/);
    await shown.page.getByLabel("Deposit in TOKEN").fill("five");
    await expect.poll(() => shown.text()).toContain("Write an amount above zero");
    expect(await shown.barriers()).toEqual([]);
    expect(shown.faults).toEqual([]);
  });

  it("shows the price or the refusal of each provider, and trusts no answer further than that", async () => {
    const other = await openConsole();
    const yes = (amount: string) => ({ json: { bid: true, price: { denom: NATIVE_DENOM, amount } } });
    let answer: Parameters<Route["fulfill"]>[0] = {};
    await other.page.route("**/api/session", (route) => route.fulfill({ json: { mode: "console", node: "test" } }));
    await other.page.route(`**/api/gateway/${market.provider}/screen`, (route) => route.fulfill(answer));
    await other.page.reload();
    await other.visit("deploy");
    const row = other.page.getByRole("row", { name: market.provider });
    const long = `full ${HOSTILE} ${"x".repeat(100_000)}`;
    const cases = [
      [yes("500.000000000000000000"), /yes/],
      [yes("1001.0"), /not known.*its price is no bid that the chain takes for this file/],
      [{ json: { bid: true, price: { denom: "ufoo", amount: "1" } } }, /not known/],
      [{ json: { bid: false, reason: long } }, /^(?!.*x{400}).*nofull .*99\d{3} more characters/],
      [{ body: "<html>", contentType: "text/html" }, /not known.*it is a web page/],
      [{ body: `"${"x".repeat(5 << 20)}"` }, /not known.*it is larger than 4 MiB/],
      [{ status: 302, headers: { location: "https://example.com/" } }, /not known/],
    ] as const;
    for (const [i, [next, shows]] of cases.entries()) {
      answer = next;
      await other.write(WEB.replace("units: 0.1", `units: 0.${i + 1}`));
      await expect.poll(() => row.textContent()).toMatch(shows);
      expect(await row.locator(".amount").count()).toBe(i === 0 ? 3 : 0);
      const cheapest = other.page.getByRole("row", { name: "At the cheapest offers" });
      expect(await cheapest.locator(".amount").count()).toBe(i === 0 ? 3 : 0);
    }
    expect(other.faults).toEqual([]);
    await other.page.unrouteAll({ behavior: "ignoreErrors" });
    await other.page.context().close();
  });

  it("shows the money of a deployment at the newest block, and its lease as chain and provider see it", async () => {
    await shown.visit(`deployment/${market.tenant}/${market.dseq}`);
    const state = shown.page.getByRole("row", { name: new RegExp(`^1/1 ${market.provider}`) });
    await expect.poll(() => state.textContent()).toMatch(/activenot knownthis page cannot reach its gateway$/);
    const refund = shown.page
      .locator(".facts div")
      .filter({ hasText: "Funds now, returned by a close" })
      .locator(".amount");
    const title = async (): Promise<bigint> =>
      BigInt((await refund.getAttribute("title"))?.replace(/ utoken$/, "") ?? 0);
    const before = await title();
    expect(before).toBeLessThan(MIN_DEPOSIT);
    await expect.poll(async () => (await title()) < before).toBe(true);
    // The lease costs half a utoken per block.
    await shown.press("Pause");
    const [left, client] = [await title(), node.client()];
    const { deployment } = await client.query.call(DeploymentQuery.method.deployment, {
      id: { owner: market.tenant, dseq: market.dseq },
    });
    const blocks = (await client.node.status()).latestHeight - (deployment?.createdAt ?? 0n);
    client.close();
    await shown.press("Resume");
    expect(MIN_DEPOSIT - left).toBeLessThanOrEqual(blocks / 2n + 1n);
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

  it("delegates, claims and votes by a wallet within four, two and three clicks", async () => {
    const { double, opened } = await openWithWallet();
    const { page } = opened;
    const to = (name: string) => page.getByRole("link", { name, exact: true }).click();
    const signed = () => double.asked.filter((question) => question.startsWith("direct")).length;
    const done = (count: number) =>
      expect
        .poll(async () => [signed(), (await page.locator(".told").textContent()) ?? ""])
        .toEqual([count, expect.stringContaining("succeeded")]);

    await to("Validators");
    await page.locator(`a[href="#/validator/${market.validator}"]`).click();
    await page.getByLabel("Amount in tokens").first().fill("2.5");
    await expect
      .poll(() => opened.text())
      .toContain(`svc tx staking delegate ${market.validator} 2500000utoken --from`);
    await opened.press("Delegate");
    await done(1);

    await to("Wallet");
    await opened.press("Claim all rewards");
    await done(2);

    await to("Governance");
    await page.locator('a[href="#/gov/1"]').first().click();
    await expect.poll(() => opened.text()).toContain("max_validators10077");
    await opened.press("Abstain");
    await done(3);
    expect(opened.faults).toEqual([]);
    expect(await opened.barriers()).toEqual([]);
    await page.context().close();
  });

  it("sends by a wallet that signs amino JSON alone, and broadcasts what its owner has chosen there", async () => {
    const { double, opened } = await openWithWallet({ aminoOnly: true, memo: "chosen in the wallet" });
    await opened.page.getByLabel("To", { exact: true }).fill(market.provider);
    await opened.page.getByLabel("Amount in tokens").fill("1");
    await opened.press("Send");
    await expect.poll(() => opened.text()).toContain("succeeded");
    await opened.page.getByRole("link", { name: "Show the transaction" }).click();
    await expect.poll(() => opened.text()).toContain("chosen in the wallet");
    expect(double.asked.at(-1)).toBe("amino svc-test-1");
    expect(opened.faults).toEqual([]);
    await opened.page.context().close();
  });

  it("tells that a wallet has refused, and that nothing was sent", async () => {
    const { opened } = await openWithWallet({ rejects: true });
    await opened.press("Claim all rewards");
    await expect.poll(() => opened.text()).toContain("the wallet has refused");
    await opened.page.context().close();
  });

  it("keeps a key under a passphrase, and signs with it after the page was loaded again", async () => {
    const opened = await openConsole();
    const { page } = opened;
    await opened.visit("wallet");
    await page.getByText("Add a key").click();
    await page.getByLabel("Recovery phrase").fill(await encryptKeyArmor(tenant.privateKey, "for the file"));
    await page.getByLabel("Passphrase of the armor").fill("for the file");
    await page.getByLabel("New passphrase").fill("correct horse");
    await opened.press("Keep this key");
    await expect.poll(() => opened.text()).toContain("key of this browser");
    await page.reload();
    await opened.visit("wallet");
    await page.getByLabel("Passphrase", { exact: true }).fill("wrong horse");
    await opened.press("Unlock");
    await expect.poll(() => opened.text()).toContain("the passphrase is not the one of this key");
    await page.getByLabel("Passphrase", { exact: true }).fill("correct horse");
    await opened.press("Unlock");
    await expect.poll(() => opened.text()).toContain("key of this browser");
    await page.getByLabel("To", { exact: true }).fill(market.provider);
    await page.getByLabel("Amount in tokens").fill("1");
    await opened.press("Send");
    await expect.poll(() => opened.text()).toContain("succeeded");
    expect(await opened.barriers()).toEqual([]);
    expect(opened.faults).toEqual([]);
    await page.context().close();
  });

  it("copies the command that shows the same", async () => {
    await shown.visit(`tx/${market.hash}`);
    await shown.press("Copy");
    await expect.poll(() => shown.page.getByRole("button", { name: "Copied" }).count()).toBe(1);
    expect(await shown.page.evaluate("navigator.clipboard.readText()")).toBe(`svc query tx ${market.hash}`);
  });

  it("names commands that the command line takes", async () => {
    for (const [address] of lines.size === 0 ? pages() : []) {
      await shown.visit(address);
      for (const line of await shown.page.locator(".command code").allTextContents()) lines.add(line);
    }
    expect(lines.size).toBeGreaterThan(12);
    const wordsOf = (line: string) => [...line.split(" ").slice(1), "--node", node.address];
    for (const line of lines) {
      if (line.startsWith("svc deploy ")) continue;
      const { code, err } = await runCli(wordsOf(line));
      expect(code, `${line}: ${err}`).toBe(0);
    }
    await shown.visit("deploy");
    await shown.press("A web service");
    const estimate = "svc deploy web.yaml --estimate";
    await expect.poll(() => shown.page.locator(".command code").textContent()).toBe(estimate);
    // No provider of this chain bids, which is a failure of the command.
    expect((await runSvc(wordsOf(estimate), { cwd: join(ROOT, "examples") })).stdout).toContain(market.provider);
  });

  it("warns of a node that serves another chain, or less of this one", async () => {
    const other = await openConsole();
    await other.visit("");
    // Stands between the page and the worker that follows the blocks.
    await other.page.addInitScript(`globalThis.lies = {};
      globalThis.Worker = class extends Worker {
        set onmessage(listener) {
          super.onmessage = ({ data }) => {
            const block = { ...data.block, ...globalThis.lies };
            listener({ data: data.kind === "block" ? { ...data, block } : data });
          };
        }
      };`);
    await other.page.reload();
    const notice = other.page.locator(".notice.bad");
    await expect.poll(() => other.state()).toBe("live");
    expect(await notice.count()).toBe(0);
    await other.page.evaluate("lies = { height: 3n }");
    await expect.poll(() => notice.textContent()).toMatch(/it was at \d+ and is at 3 now/);
    await other.page.evaluate('lies = { chainId: "other-9" }');
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

  if (PICTURES !== undefined) it("takes pictures in light, dark and narrow windows", () => takePictures(PICTURES));

  async function takePictures(pictures: string): Promise<void> {
    const looks = {
      light: { viewport: { width: 1280, height: 900 } },
      dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" as const },
      narrow: { viewport: { width: 360, height: 740 } },
    };
    for (const [look, options] of Object.entries(looks)) {
      const opened = await openConsole(options);
      const folder = resolve(ROOT, pictures, look);
      mkdirSync(folder, { recursive: true });
      for (const [address] of pages()) {
        await opened.visit(address);
        const name = address.replace(/[/?](?:\w{20,}|\w+=.*)/g, "").replaceAll("/", "-") || "home";
        await opened.page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
        expect(await opened.barriers(), `${look} ${address}`).toEqual([]);
      }
      await opened.page.context().close();
    }
  }
});
