import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterEach } from "vitest";
import { ROOT } from "./build.ts";

/** Pictures of the pages of failed tests. */
const FOLDER = join(ROOT, ".cache", "failed-pages");
const LIMIT_MS = 10_000;
const MAX_TEXT = 4_000;

const browsers = new Set<Browser>();

/** Pages of this browser are kept when a test fails. */
export function keepPagesOf(browser: Browser): void {
  browsers.add(browser);
  browser.on("disconnected", () => browsers.delete(browser));
}

/** For a suite: after a failed test, prints what all open pages show, and keeps a picture of each. */
export function keepPagesOfFailures(): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const pages = [...browsers].flatMap((browser) => browser.contexts()).flatMap((context) => context.pages());
    for (const [i, page] of pages.entries()) await keep(page, `${task.id}-${i}`).catch(() => undefined);
  });
}

async function keep(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `${name}.png`);
  const values = page.locator("input, select, textarea, [contenteditable]");
  const typed = await values.evaluateAll((all) => all.map((each) => Reflect.get(each, "value") ?? each.textContent));
  const text = await page.locator("body").ariaSnapshot({ timeout: LIMIT_MS });
  console.error(`the page ${page.url()}, ${path}, fields ${JSON.stringify(typed)}:\n${text}`.slice(0, MAX_TEXT));
  writeFileSync(path, await page.screenshot({ timeout: LIMIT_MS }));
}
