import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { CDPSession, Locator, Page } from "playwright-core";
import { ROOT } from "../build.ts";
import { openPage } from "../chromium.ts";
import { waitFor } from "../wait.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const AXE_RUN = `axe.run({ resultTypes: ["violations"] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))`;

/** Whether the shown page has all that it waits for, shows a failure, or shows nothing, as its script did not come. */
const PROGRESS = `(() => {
  const has = (what) => document.querySelector(what) !== null;
  const isEmpty = document.readyState === "complete" && !has(".link");
  if (isEmpty || has("main [role=alert]")) return "failed";
  const isWaiting = has(".link[data-state=connecting]") || has(".waiting") || !has(".link");
  return !isWaiting && document.querySelectorAll("h1").length === 1 ? "complete" : "waiting";
})()`;

/** Tells of each breach of the policy, which a browser otherwise only writes to its console. */
const LISTENER = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sourceFile));`;

/** The console in a browser, as a person uses it. */
export class ConsolePage {
  readonly page: Page;
  readonly #url: string;
  #input: Promise<CDPSession> | undefined;
  /** Breaches of the policy, faults of scripts, and requests to anything but the console and what lies below it. */
  readonly faults: string[] = [];

  /** `others`: origins beside the console's that the page may ask, such as gateways of providers. */
  constructor(page: Page, url: string, others: readonly string[] = []) {
    this.page = page;
    this.#url = url;
    page.on("console", (message) => {
      if (message.text().startsWith("policy:")) this.faults.push(message.text());
    });
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("request", (request) => {
      const isKnown = [url, ...others].some((origin) => request.url().startsWith(origin));
      if (!isKnown) this.faults.push(`asked ${request.url()}`);
    });
  }

  async open(): Promise<void> {
    await this.page.addInitScript(LISTENER);
    await openPage(this.page, this.#url);
  }

  /** Goes to an address of the pages and waits until nothing waits for the node; loads again what a network has cut off. */
  async visit(address: string): Promise<void> {
    await openPage(this.page, `${this.#url}#/${address}`);
    await waitFor(async () => {
      const progress = await this.page.evaluate(PROGRESS);
      if (progress === "failed") await this.page.reload();
      return progress === "complete";
    }, `the page ${address}`);
  }

  get address(): string {
    return new URL(this.page.url()).hash;
  }

  /** The text of the page, with common spaces. */
  async text(): Promise<string> {
    return ((await this.page.locator("main").textContent()) ?? "").replaceAll("\u202f", " ");
  }

  /** The shown height; 0 before the first block. */
  async height(): Promise<bigint> {
    const text = (await this.page.locator("#height").textContent()) ?? "";
    return BigInt(text.replace(/\D/g, "") || 0);
  }

  /** `live`, `lost`, `paused` or `connecting`. */
  async state(): Promise<string | null> {
    return this.page.locator(".link").getAttribute("data-state");
  }

  /** The editor of a deployment file, which takes the place of a text area once it has come. */
  get editor(): Locator {
    return this.page.getByRole("textbox", { name: "Deployment file" }).and(this.page.locator("[contenteditable]"));
  }

  /** The text in the editor, by its document: only lines in view are drawn. */
  async file(): Promise<string> {
    return this.editor.evaluate((each) => String(Reflect.get(each, "cmTile").root.view.state.doc));
  }

  /** Puts a text in the place of the one in the editor, and waits for it. */
  async write(text: string): Promise<void> {
    await this.editor.focus();
    await this.page.keyboard.press("ControlOrMeta+A");
    await this.page.keyboard.insertText(text);
    await waitFor(async () => {
      const found = await this.file();
      if (found === text) return true;
      throw new Error(found);
    }, "the editor to hold the written text");
  }

  /** Shows an unfinished text at the cursor, as an input method does; the next one, or a text that is inserted, takes its place. */
  async compose(text: string): Promise<void> {
    this.#input ??= this.page.context().newCDPSession(this.page);
    const at = text.length;
    await (await this.#input).send("Input.imeSetComposition", { text, selectionStart: at, selectionEnd: at });
  }

  press(name: string): Promise<void> {
    return this.page.getByRole("button", { name, exact: true }).click();
  }

  /** Searches for a text and waits for the page of its address. */
  async search(text: string): Promise<void> {
    const before = this.address;
    await this.page.getByRole("searchbox").fill(text);
    await this.page.getByRole("searchbox").press("Enter");
    await waitFor(() => this.address !== before && !this.address.startsWith("#/search"), `a page for ${text}`);
  }

  /** Puts a picture of the window into the guides, where `npm run console` asks for them. */
  async picture(name: string): Promise<void> {
    if (process.env.SVC_CONSOLE_PICTURES === undefined) return;
    // Commands name folders of the test.
    const setVisible = (value: string) =>
      this.page.evaluate(
        `for (const each of document.querySelectorAll(".command")) each.style.visibility = "${value}"`,
      );
    await setVisible("hidden");
    await this.page.screenshot({ path: join(ROOT, "docs/guides/pictures", `${name}.png`) });
    await setVisible("");
  }

  /** Faults that axe finds, each with its first place. */
  async barriers(): Promise<string[]> {
    // The page keeps it until it is loaded again.
    if ((await this.page.evaluate("typeof axe")) === "undefined") await this.page.evaluate(AXE);
    const found: unknown = await this.page.evaluate(AXE_RUN);
    return Array.isArray(found) ? found.map(String) : ["axe did not run"];
  }
}
