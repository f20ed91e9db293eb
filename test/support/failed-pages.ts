import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach } from "vitest";
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

const contexts = (): BrowserContext[] => [...browsers].flatMap((browser) => browser.contexts());

/** For a suite: profiles that a test opens end with it. Unseen, their pages would still draw each block. */
export function closePagesOfTests(): void {
  let lasting: readonly BrowserContext[] = [];
  beforeEach(() => {
    lasting = contexts();
  });
  afterEach(async () => {
    const opened = contexts().filter((each) => !lasting.includes(each));
    await Promise.all(opened.map((each) => each.close()));
  });
}

/** For a suite: after a failed test, prints what all open pages show, and keeps a picture of each. */
export function keepPagesOfFailures(): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const pages = contexts().flatMap((context) => context.pages());
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
