import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ChainClient } from "../../src/client/index.ts";
import { formatLeaseId, type LeaseKey } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import { HOSTILE } from "../support/console/market.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace, connectKeplr, type PlaceProvider } from "../support/console/place.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { sampleFile } from "../support/provider/deployment.ts";
import { TestTenant } from "../support/tenant.ts";

/** Sequences by which a program renames the window, writes the clipboard, links to a script and asks the terminal who it is. */
const SEQUENCES =
  "\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u001b]8;;javascript:alert(1)\u0007here\u001b]8;;\u0007\u001b[c";

/** More lines than a page of logs holds. */
const FLOOD = 30_000;
/**
 * Pauses a page of logs while lines come, waits until it tells how many came since, goes on, and searches. Resolves with the number
 * of lines that had come when it told.
 */
const PRESSES = `(async () => {
  const until = async (text) => {
    while (!text.test(document.body.textContent)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const press = (name) => [...document.querySelectorAll("main button")].find((each) => each.textContent === name).click();
  await until(/[1-9]\\s\\d{3} received/);
  press("Pause");
  await until(/[1-9][\\d\\s]* new lines since the pause/);
  const received = Number(/([\\d\\s]+) received/.exec(document.body.textContent)[1].replace(/\\s/g, ""));
  press("Continue");
  const search = document.querySelector(".wishes input[type=search]");
  search.value = "last but one";
  search.dispatchEvent(new Event("input", { bubbles: true }));
  return received;
})()`;

describeWithBrowser("a running deployment in the console", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let provider: PlaceProvider;
  let lease: LeaseKey;
  /** Opened once: each test goes on where the one before has left the page. */
  let opened: ConsolePage;
  let page: Page;
  let signatures: () => number;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture);
    const [first] = place.providers;
    if (first === undefined) throw new Error("the place has no provider");
    provider = first;
    lease = await run(sampleFile({ job: "echo started; echo ERROR no route; sleep 1000", count: 1 }));
    const { double, opened: found } = await place.openWithKeplr();
    opened = found;
    page = found.page;
    signatures = () => double.asked.filter((question) => question.startsWith("text")).length;
  });
  afterAll(() => fixture.close());

  /** Brings a deployment of the tenant to the provider, until it is ready. */
  async function run(file: string): Promise<LeaseKey> {
    const client = new ChainClient(place.node.address.replace("tcp:", "http:"));
    fixture.defer(() => client.close());
    const tenant = new TestTenant(client, place.key());
    const ordered = await tenant.order(file);
    await tenant.awaitBids(ordered.id);
    const leased = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    await waitFor(async () => {
      const services = Object.values((await tenant.status(leased)).services);
      return services.length > 0 && services.every(({ available, total }) => available === total);
    }, "the services to be ready");
    return leased;
  }

  /** The first click of each task: a deployment in the list. */
  async function choose(at: ConsolePage = opened): Promise<void> {
    await at.visit("deployments");
    await at.page
      .getByRole("link", { name: String(lease.dseq), exact: true })
      .first()
      .click();
  }

  const view = (name: string, at: ConsolePage = opened): Promise<void> =>
    at.page.getByRole("navigation", { name: "Views of the deployment" }).getByRole("link", { name }).click();
  /** Waits for a text; a failure quotes the beginning of the page. */
  const shows = (text: string | RegExp, at: ConsolePage = opened) =>
    waitFor(async () => {
      const found = await at.text();
      if (typeof text === "string" ? found.includes(text) : text.test(found)) return true;
      throw new Error(found.slice(0, 600));
    }, `the page to show ${text}`);
  const lines = () => page.locator(".log li");
  const terminal = (text: string, at: Page = page) =>
    waitFor(async () => {
      const found = (await at.frameLocator("iframe").locator(".xterm-rows").textContent()) ?? "";
      if (found.replaceAll("\u00a0", " ").includes(text)) return true;
      throw new Error(found.slice(0, 300));
    }, `the terminal to show ${text}`);

  /** A line that a container of the lease writes, until all readers have room for more. */
  async function write(message: string, name = "web-0"): Promise<void> {
    const found = [...provider.daemon.cluster.leases.values()].find(
      ({ spec }) => formatLeaseId(spec.id) === formatLeaseId(lease),
    );
    const line = { name, message, time: new Date().toISOString(), stream: "stdout" as const };
    await Promise.all([...(found?.listeners ?? [])].map((listener) => listener(line)));
  }

  it("is seen by its owner as the provider sees it, beside the chain, on one signature", async () => {
    await choose();
    await shows("1/1");
    await shows(/running.*0 restarts/);
    await opened.picture("running");
    const links = await page
      .locator("main a[target=_blank]")
      .evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    expect(links.length).toBeGreaterThan(0);
    for (const href of links) expect(href).toMatch(/^https?:/);
    expect(await opened.barriers()).toEqual([]);
  });

  it("says why a replica stopped, after one click", async () => {
    await opened.visit("deployments");
    provider.daemon.cluster.crash(lease, "web", 0, 7);
    await choose();
    await shows("web-0: the program ended with exit code 7");
    await shows("1 restart");
  });

  it("shows live lines of all services after two clicks", async () => {
    await choose();
    await view("Logs");
    await shows("no route");
    await shows("live");
    await write("served one page");
    await shows("served one page");
    expect(await page.locator(".log .error").allTextContents()).toEqual([expect.stringContaining("ERROR no route")]);
    expect(await opened.barriers()).toEqual([]);
  });

  it("finds lines, stands still while paused, and shows grave ones alone", async () => {
    const search = page.getByRole("searchbox", { name: "Search" }).nth(1);
    await search.fill("SERVED");
    await expect.poll(() => lines().count()).toBe(1);
    await search.fill("");
    await page.getByRole("combobox").selectOption("errors");
    await expect.poll(() => lines().allTextContents()).toEqual([expect.stringContaining("no route")]);
    await page.getByRole("combobox").selectOption("all lines");
    await page.locator("main").getByRole("button", { name: "Pause", exact: true }).click();
    await write("came later");
    await shows("1 new lines since the pause");
    expect(await opened.text()).not.toContain("came later");
    await page.locator("main").getByRole("button", { name: "Continue", exact: true }).click();
    await shows("came later");
  });

  it("shows the texts of containers as text, and obeys nothing in them", async () => {
    await write(`${HOSTILE} \u001b[31mred ${SEQUENCES}`, "job-0");
    await shows('<img src=x onerror="document.title=1">\\u202egnp.exe\\u200b red');
    expect(await page.title()).toMatch(/^Deployment/);
  });

  it("stays usable while more lines come at once than it holds", async () => {
    const search = page.getByRole("searchbox", { name: "Search" }).nth(1);
    // The page presses and types itself: the driver is told of each frame, and comes to its next command seconds later.
    const pressed = page.evaluate(PRESSES);
    for (let i = 0; i < FLOOD; i++) await write(`line ${i} ${"x".repeat(60)}`);
    await write("the last but one");
    await write("the end");
    // It answers before the last line has come.
    expect(await pressed).toBeLessThan(FLOOD);
    await expect.poll(() => lines().count()).toBe(1);
    await search.fill("");
    await shows("the end");
    const counts = /([\d ]+) received – ([\d ]+) older lines are dropped from this page/.exec(await opened.text());
    const [received = 0, dropped = 0] = counts?.slice(1).map((text) => Number(text.replaceAll(" ", ""))) ?? [];
    expect(received).toBeGreaterThanOrEqual(FLOOD);
    expect(received - dropped).toBe(20_000);
    expect(await lines().count()).toBe(200);
    expect(await page.locator("main *").count()).toBeLessThan(1_000);
  });

  it("reads on when the provider is killed and comes back", async () => {
    await provider.daemon.halt();
    await shows("connection lost, trying again");
    await provider.daemon.start();
    await expect.poll(() => page.locator(".streams").textContent()).toBe("live ");
    await write("after the return");
    await shows("after the return");
  });

  it("shows the run before the last start", async () => {
    await page.getByRole("checkbox").check();
    await shows("the provider has said everything");
    await page.getByRole("checkbox").uncheck();
  });

  it("shows events as they come", async () => {
    await view("Events");
    await shows("web-0 started");
    provider.daemon.cluster.crash(lease, "job", 0, 3);
    await shows("job-0: the program ended with exit code 3");
    expect(await opened.barriers()).toEqual([]);
  });

  it("runs a shell after two clicks, copies out of it and says how it ended", async () => {
    await choose();
    await view("Shell");
    await terminal("$");
    await page.keyboard.type("echo hello there\n");
    await terminal("hello there");
    expect(await opened.barriers()).toEqual([]);
    await page
      .frameLocator("iframe")
      .locator(".xterm-screen")
      .dblclick({ position: { x: 25, y: 8 } });
    await page.keyboard.press("Control+Shift+C");
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("hello");
    await page.keyboard.type("exit 4\n");
    await shows("ended with exit code 4");
  });

  it("says that a shell has ended when its container stops, and when its provider goes", async () => {
    await choose();
    await view("Shell");
    const replica = page.getByRole("combobox");
    await replica.selectOption("web-0");
    await shows(/selectionopenCtrl/);
    provider.daemon.cluster.crash(lease, "web", 0);
    await shows("ended with exit code 137");
    await replica.selectOption("job-0");
    await shows(/selectionopenCtrl/);
    await provider.daemon.halt();
    await shows("The shell has ended: ");
    await provider.daemon.start();
  });

  it("broke no rule of the pages, and asked the wallet once", () => {
    expect(opened.faults).toEqual([]);
    expect(signatures()).toBe(1);
  });

  it("keeps its session over a reload of the page, and until its owner disconnects the account", async () => {
    await page.reload();
    await connectKeplr(opened);
    await choose();
    await shows(/running.*restart/);
    expect(signatures()).toBe(1);
    await opened.visit("wallet");
    await opened.press("Disconnect");
    await opened.press("Connect Keplr");
    await shows("wallet of this browser");
    await choose();
    await shows(/running.*restart/);
    expect(signatures()).toBe(2);
  });

  it("is the same through svc console, with a key of the keyring and no question", async () => {
    const command = await place.console();
    const at = await place.openAt(command);
    await choose(at);
    await shows("1/1", at);
    await view("Logs", at);
    await shows("live", at);
    await view("Shell", at);
    await terminal("$", at.page);
    await at.page.keyboard.type("echo over the relay\n");
    await terminal("over the relay", at.page);
    expect(at.faults).toEqual([]);
    expect(command.screen).toContain("session of tenant: ");
    expect(command.screen).not.toContain("to agree");
  });

  it("says in a sentence that a gateway answers with a page, without end, or beyond its numbers", async () => {
    const { opened: at } = await place.openWithKeplr();
    const status = `${provider.webGateway}/lease/*/*/*/status`;
    await at.page.route(status, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><p>Hi" }));
    await choose(at);
    await shows("it is a web page", at);
    await at.page.unroute(status);
    await at.page.route(status, (route) => route.fulfill({ body: `[${"1,".repeat(2 << 20)}1]` }));
    await shows("it is larger than 4 MiB", at);
    await at.page.unroute(status);
    const urls = Array.from({ length: 50_000 }, (_, i) => `javascript:alert(${i})`);
    const answer = (total: number) => ({ services: { web: { name: "web", available: 0, total, uris: null, urls } } });
    await at.page.route(status, (route) => route.fulfill({ json: answer(2 ** 60) }));
    await shows("it has a number beyond 2^53", at);
    await at.page.unroute(status);
    await at.page.route(status, (route) => route.fulfill({ json: answer(7) }));
    await shows("0/7", at);
    expect(await at.page.locator('a[href^="javascript"]').count()).toBe(0);
    expect((await at.text()).length).toBeLessThan(20_000);
    await at.page.unroute(status);
    // A proxy that passes requests on, and no websockets.
    const refusing = "class extends Own { constructor(_, protocols) { super('wss://127.0.0.1:9/', protocols); } }";
    await at.page.evaluate(`globalThis.Own = WebSocket; WebSocket = ${refusing}`);
    await view("Shell", at);
    await shows("The gateway answers requests, and opens no stream", at);
    expect(at.faults).toEqual([]);
  });

  it("says in a sentence that a gateway sends a flood, and holds what came before", async () => {
    const { opened: at } = await place.openWithKeplr();
    let streams = 0;
    await at.page.routeWebSocket(/\/logs\?/, async (socket) => {
      // The second stream does not open.
      if (++streams > 1) return new Promise(() => {});
      for (let i = 0; i < 40; i++) socket.send(JSON.stringify({ name: "web-0", message: "x".repeat(1 << 19) }));
      socket.send(JSON.stringify({ name: "web-0", message: "x".repeat(1 << 20) }));
    });
    await choose(at);
    await view("Logs", at);
    await shows(/lost, trying again a message is larger than 1 MiB/, at);
    await shows("40 received", at);
    await waitFor(() => streams > 1, "another try");
    expect(at.faults).toEqual([]);
  });

  it("lets no program in a shell rename the window, write the clipboard or link to a script", async () => {
    const { opened: at } = await place.openWithKeplr();
    await at.page.routeWebSocket(/\/shell\?/, (socket) => {
      socket.send(Buffer.concat([Buffer.from([100]), Buffer.from(SEQUENCES)]));
      socket.onMessage(() => socket.close({ code: 4000, reason: "the engine is away" }));
    });
    await choose(at);
    await at.page.evaluate("navigator.clipboard.writeText('mine')");
    await view("Shell", at);
    await terminal("here", at.page);
    await at.page
      .frameLocator("iframe")
      .locator(".xterm-screen")
      .click({ position: { x: 15, y: 8 } });
    await shows("The shell has ended: the engine is away", at);
    expect(await at.page.title()).toMatch(/^Deployment/);
    expect(await at.page.evaluate("navigator.clipboard.readText()")).toBe("mine");
    expect(at.faults).toEqual([]);
  });

  it("tells a stranger, and an account that is only looked at, nothing of what runs", async () => {
    const at = await place.open();
    await choose(at);
    await shows("Providers tell the owner alone what runs", at);
    await view("Shell", at);
    await shows("Connect the owner's account", at);
    expect(await at.page.locator("iframe").count()).toBe(0);
  });
});
