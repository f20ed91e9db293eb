/**
 * Main-thread time of the console in Chromium: until the first page is live with facts of the chain, and for a block of a
 * hundred transactions, which changes every row of that page. Beside it a bare page, without library or requests, writes a hundred
 * rows: what the browser itself takes on this machine.
 *
 *   npm run bench -- console [rounds]
 */
import type { Browser, CDPSession, Page } from "playwright-core";
import { NATIVE_DENOM } from "../src/util/index.ts";
import { startBrowser } from "../test/support/chromium.ts";
import { ConsolePage } from "../test/support/console/page.ts";
import { Fixture, freePorts, pause, startNode, waitFor } from "../test/support/index.ts";
import { Rng } from "../test/support/rng.ts";
import { Sends, senderKeys } from "../test/support/sends.ts";
import { Report } from "./lib/report.ts";
import { median } from "./lib/stats.ts";

const SENDERS = 100;
const BLOCKS = 10;
const [rounds = 5] = process.argv.slice(2).map(Number);

/** Milliseconds of the page's main thread since it was made. */
async function mainThreadMs(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
}

/** Processor time of the page's main thread: other processes take none of it. */
async function devtoolsOf(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  return devtools;
}

/** A table of the live lists' form, in whose rows a script writes four texts each second. */
const BARE_PAGE = `<style>
  body { font: 15px system-ui } table { table-layout: fixed; width: 40rem; border-collapse: collapse }
  td { border-top: 1px solid #ccc; white-space: nowrap; overflow: hidden }
</style><table>${"<tr><td>x<td>x<td>x<td>x".repeat(SENDERS)}</table>`;
const BARE_SCRIPT = `(() => {
  const rows = [...document.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.firstChild));
  let height = 1000;
  setInterval(() => {
    height += 1;
    rows.forEach(([hash, action, block, result], at) => {
      hash.data = (height * 7919 * (at + 1)).toString(16).padStart(12, "0");
      action.data = "MsgSend";
      block.data = String(height);
      result.data = "ok";
    });
  }, 1000);
})()`;

/** Milliseconds of the main thread each time the bare page writes its rows. */
async function bareMs(browser: Browser): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const devtools = await devtoolsOf(page);
  await page.setContent(BARE_PAGE);
  await page.evaluate(BARE_SCRIPT);
  await pause(1_500);
  const before = await mainThreadMs(devtools);
  await pause(BLOCKS * 1_000);
  const taken = ((await mainThreadMs(devtools)) - before) / BLOCKS;
  await context.close();
  return taken;
}

const fixture = new Fixture();
try {
  const [port] = await freePorts(1);
  const accounts = senderKeys(SENDERS).map(({ address }) => ({
    address,
    coins: [{ denom: NATIVE_DENOM, amount: 10n ** 12n }],
  }));
  const flags = ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`];
  const node = await startNode(fixture, { blockIntervalMs: 1_000, accounts, flags });
  const browser = await startBrowser({ isWhole: true });
  fixture.defer(() => browser.close());
  const report = new Report(
    "console",
    `The overview of a node's own console, in a browser context of its own each round; ${SENDERS} accounts that send once a second, ` +
      "so that each block changes every row. TaskDuration of Chromium's performance domain.",
  );
  const [start, block, bare]: [number[], number[], number[]] = [[], [], []];
  const sends = new Sends({ addresses: [node.address], rng: new Rng(1), senders: SENDERS, turnMs: 1_000 });
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const devtools = await devtoolsOf(page);
    const shown = new ConsolePage(page, `http://127.0.0.1:${port}/console/`);
    await shown.visit("");
    await waitFor(async () => (await shown.state()) === "live" && (await shown.height()) > 0n, "the first page");
    start.push(await mainThreadMs(devtools));
    if (round === 0) sends.start();
    await waitFor(async () => (await page.locator("main a[href^='#/tx/']").count()) > 10, "rows of transactions");
    const [from, before] = [await shown.height(), await mainThreadMs(devtools)];
    // Questions to the page would take time of its main thread.
    await pause(BLOCKS * 1_000);
    block.push(((await mainThreadMs(devtools)) - before) / Number((await shown.height()) - from));
    await context.close();
    bare.push(await bareMs(browser));
  }
  await sends.stop();
  report.add({ name: "first page until it is live", unit: "ms", samples: start, target: { atMost: 1_000 } });
  report.add({ name: `bare page that writes ${SENDERS} rows`, unit: "ms", samples: bare });
  // The budget of 8 ms names no machine: where the bare page takes longer, its time is the bound.
  report.add({
    name: `block of ${SENDERS} transactions`,
    unit: "ms",
    samples: block,
    target: { atMost: Math.max(8, median(bare)) },
  });
  report.save();
} finally {
  await fixture.close();
}
