import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Browser, chromium, type Page, type Response } from "playwright-core";
import { describe } from "vitest";
import { closePagesOfTests, keepPagesOf, keepPagesOfFailures } from "./failed-pages.ts";
import { PATIENCE_MS } from "./wait.ts";

const WHOLE = ["chromium", "chromium-browser", "google-chrome"];
/** Chromium without its windows, which takes half the time for a page. */
const PAGES_ALONE = ["chromium-headless-shell", ...WHOLE];

function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const whole = findProgram(WHOLE);
const program = findProgram(PAGES_ALONE);
if (program === undefined) {
  const text = "tests with a browser cannot run: there is no chromium; on Debian, as root: apt-get install chromium";
  // Where tests must run, one that cannot is a failure.
  if (process.env.CI === "true") throw new Error(text);
  process.stderr.write(`${text}\n`);
}

/** `describe` if there is a browser, with the pages of failures kept, and all pages of a test closed at its end; otherwise skipped, with a notice on standard error. */
export function describeWithBrowser(name: string, suite: () => void): void {
  describe.skipIf(program === undefined)(name, () => {
    // Hooks after a test run from the last to the first.
    closePagesOfTests();
    keepPagesOfFailures();
    suite();
  });
}

/** The same where tests also tell the browser of authorities, in its store of certificates. */
export const describeWithCertificates = describe.skipIf(whole === undefined || findProgram(["certutil"]) === undefined);

export interface BrowserRequest {
  readonly flags?: readonly string[];
  /** Instead of the variables of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Chromium as people use it, with its store of certificates; one without windows does for pages alone. */
  readonly isWhole?: boolean;
}

/** A real headless Chromium. The caller closes it. */
export async function startBrowser({ flags = [], env, isWhole = false }: BrowserRequest = {}): Promise<Browser> {
  // Root has no sandbox, and containers have little shared memory. A failed page is opened again by the test alone.
  const always = ["--disable-dev-shm-usage", "--disable-gpu", "--disable-auto-reload"];
  const own = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...always];
  const args = [...own, ...flags];
  const variables =
    env === undefined ? {} : { env: Object.fromEntries(Object.entries(env).map(([k, v]) => [k, v ?? ""])) };
  const executablePath = isWhole ? whole : program;
  const path = executablePath === undefined ? {} : { executablePath };
  const browser = await chromium.launch({ args, ...variables, ...path });
  keepPagesOf(browser);
  browser.on("context", (context) => context.setDefaultTimeout(PATIENCE_MS));
  return browser;
}

/** A network that changed; the page that shows this failure, or the try before, that comes in between; a page that never ends its load. */
const CHANGED = /ERR_NETWORK_CHANGED|interrupted by another navigation to|Timeout \d+ms exceeded/;
/** Tries of a page: two minutes together, in which the networks of other tests come to rest. */
const TRIES = 12;
const TRY_MS = 10_000;
const PAUSE_MS = 500;

/**
 * Opens an address as a person would who tries again when the network has changed: a browser gives up what it has begun while other
 * tests make and remove networks of this machine.
 */
export async function openPage(page: Page, url: string): Promise<Response | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await page.goto(url, { timeout: TRY_MS });
    } catch (error) {
      if (tries === TRIES || !CHANGED.test(String(error))) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}
