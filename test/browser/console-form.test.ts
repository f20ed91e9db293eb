import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deploy } from "../../src/console/text/deploy.ts";
import { loadSdl, SdlError } from "../../src/sdl/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture, ROOT } from "../support/index.ts";

const WEB = readFileSync(join(ROOT, "examples/web.yaml"), "utf8");
const TWO = readFileSync(join(ROOT, "examples/two-services.yaml"), "utf8");
const PERSISTENT = readFileSync(join(ROOT, "examples/persistent.yaml"), "utf8");

describeWithBrowser("the form of the console's deploy page", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let shown: ConsolePage;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture, { providers: 0 });
    shown = await place.open();
  });
  afterAll(() => fixture.close());

  const form = () => shown.page.getByRole("region", { name: "Form" });
  const input = (name: string) => form().getByLabel(name, { exact: true });
  const text = () => shown.file();

  const TEMPLATES = { "A web service": WEB, "Two services": TWO, "A service with a volume": PERSISTENT } as const;

  async function begin(template: keyof typeof TEMPLATES): Promise<void> {
    await shown.visit("deploy");
    await shown.press(template);
    await expect.poll(text).toBe(TEMPLATES[template]);
  }

  it("shows what the text says, and changes it in its place", async () => {
    await begin("A web service");
    await expect.poll(() => input("Image").inputValue()).toBe("localhost/svc-sample:latest");
    await input("Image").fill("docker.io/library/nginx:1.27");
    await input("CPU cores").fill("0.25");
    await input("Replicas").fill("2");
    await input("Price per block, at most").fill("900");
    await input("Host names").fill("shop.example.com, www.example.com");
    const expected = WEB.replace("localhost/svc-sample:latest", "docker.io/library/nginx:1.27")
      .replace("units: 0.1", "units: 0.25")
      .replace("count: 1", "count: 2")
      .replace("amount: 1000", "amount: 900")
      .replace(
        "- global: true # open to everybody\n",
        (line) => `${line}        accept:\n          - shop.example.com\n          - www.example.com\n`,
      );
    await expect.poll(text).toBe(expected);
    await expect.poll(() => shown.page.getByRole("row", { name: /nginx/ }).count()).toBe(1);
    expect(await shown.barriers()).toEqual([]);
  });

  it("follows the text", async () => {
    await begin("A web service");
    await shown.write(WEB.replace("size: 32Mi", "size: 48Mi").replace("- global: true", "- service: web"));
    await expect.poll(() => input("Memory").inputValue()).toBe("48Mi");
    expect(await input("Open to everybody").isChecked()).toBe(false);
  });

  it("rests while the text has faults beyond it, with the sentence of svc sdl validate", async () => {
    await begin("A web service");
    const broken = WEB.replace("    image:", "    imagee: x\n    image:");
    await shown.write(broken);
    await expect.poll(() => form().getByText(sentenceOf(broken)).count()).toBe(1);
    expect(await input("Image").isDisabled()).toBe(true);
    await shown.write(`${WEB}: [`);
    await expect.poll(() => input("Image").isDisabled()).toBe(true);
    await shown.write(WEB);
    await expect.poll(() => input("Image").isDisabled()).toBe(false);
  });

  it("says what is wrong with a value beside it, where it can be mended", async () => {
    await begin("A web service");
    await input("Memory").fill("32mb");
    const sentence = sentenceOf(WEB.replace("size: 32Mi", "size: 32mb"));
    await expect.poll(() => form().getByText(sentence).count()).toBe(1);
    expect(await input("Memory").getAttribute("aria-invalid")).toBe("true");
    expect(await shown.barriers()).toEqual([]);
    await input("Memory").fill("64Mi");
    await expect.poll(() => form().getByText(sentence).count()).toBe(0);
  });

  it("renames a service wherever the file names it, to a name that svc sdl validate takes", async () => {
    await begin("Two services");
    const name = form().getByLabel("Service name").first();
    const beside = form().locator("small.bad");
    await expect.poll(() => name.inputValue()).toBe("frontend");
    await name.fill("Shop");
    const sentence = (await beside.textContent()) ?? "";
    expect([sentence.startsWith('"Shop"'), sentenceOf(TWO.replaceAll("frontend", "Shop"))]).toEqual([
      true,
      expect.stringContaining(sentence),
    ]);
    await name.fill("backend");
    expect(await beside.textContent()).toBe("Another service of the file has this name.");
    expect(await text()).toBe(TWO);
    await name.fill("");
    await shown.page.keyboard.type("shop");
    const after = TWO.replace("  frontend:\n    image", "  shop:\n    image")
      .replace("- service: frontend", "- service: shop")
      .replace(/(deployment:\n(?:.*\n)*?) {2}frontend:/, "$1  shop:");
    await expect.poll(text).toBe(after);
    expect(await beside.count()).toBe(0);
    await shown.editor.focus();
    for (const _ of "shop") await shown.page.keyboard.press("Control+Z");
    await expect.poll(() => name.inputValue()).toBe("frontend");
  });

  it("says that an alias repeats what was to be removed", async () => {
    await begin("Two services");
    const command = 'command: ["sh", "-c"]';
    const [before, between, after] = TWO.split(command);
    const repeated = `${before}command: &shell ["sh", "-c"]${between}command: *shell${after}`;
    loadSdl(repeated, { file: "two-services.yaml" });
    await shown.write(repeated);
    await expect.poll(() => form().getByLabel("Service name").count()).toBe(2);
    await shown.press("Remove service frontend");
    await expect.poll(() => shown.text()).toContain("repeats this one by an alias");
    expect(await text()).toBe(repeated);
  });

  it("keeps what it does not know, and says so", async () => {
    await begin("A service with a volume");
    await expect.poll(() => form().getByText("3 fields are in the text only").count()).toBe(1);
    await input("Storage data").fill("128Mi");
    const expected = PERSISTENT.replace("name: data\n            size: 64Mi", "name: data\n            size: 128Mi");
    await expect.poll(text).toBe(expected);
  });

  it("makes a file out of nothing by the keyboard alone", async () => {
    const opened = await place.open();
    const { page } = opened;
    await opened.visit("deploy");
    const keys = page.keyboard;
    const tabTo = async (name: string): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const label: unknown = await page.evaluate(
          "document.activeElement.labels?.[0]?.textContent.trim() ?? document.activeElement.textContent",
        );
        if (label === name) return;
        await keys.press("Tab");
      }
      throw new Error(`no tab leads to ${name}`);
    };
    await tabTo("Name of a service");
    await keys.type("web");
    await keys.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("service-0-image");
    await keys.type("docker.io/library/nginx:1.27");
    await tabTo("Memory");
    await keys.type("256Mi");
    await tabTo("Open to everybody");
    await keys.press("Space");
    await keys.press("Space");
    await tabTo("Add a port to web");
    await keys.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("service-0-port-1");
    await keys.type("9000");
    await tabTo("Environment, a variable in each line");
    await keys.type("A=1");
    await keys.press("Enter");
    await keys.type("B=two words");
    await expect
      .poll(async () => {
        const { manifest } = loadSdl(await opened.file());
        return manifest[0]?.services[0];
      })
      .toMatchObject({
        name: "web",
        image: "docker.io/library/nginx:1.27",
        env: ["A=1", "B=two words"],
        resources: { memory: { size: { val: String(256 * 2 ** 20) } } },
        expose: [
          { port: 80, global: true },
          { port: 9000, global: true },
        ],
      });
    expect(opened.faults).toEqual([]);
    await page.context().close();
  });

  it("fits a narrow screen", async () => {
    const opened = await place.open();
    await opened.page.setViewportSize({ width: 360, height: 720 });
    await opened.visit("deploy");
    await opened.press("Two services");
    await expect.poll(() => opened.page.getByRole("group", { name: "Service frontend" }).count()).toBe(1);
    await opened.editor.waitFor();
    expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await opened.barriers()).toEqual([]);
    await opened.page.context().close();
  });

  describe("the editor beside it", () => {
    const CODE = /\/assets\/code-[^/]*\.js$/;
    const TEMPLATE = /\/assets\/web-[^/]*\.js$/;

    /** Lets a file of the console wait until it is released. */
    async function held(page: Page, name: RegExp) {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(name, async (route) => {
        await released;
        await route.continue();
      });
      return { release: () => release(), asked: page.waitForRequest(name), answered: page.waitForResponse(name) };
    }

    it("takes the place of the text area with its text, cursor and focus", async () => {
      const opened = await place.open();
      const { page } = opened;
      const { release } = await held(page, CODE);
      await opened.visit("deploy");
      await page.getByLabel("Deployment file").focus();
      await page.keyboard.type("version: '2.0'\n# by hand");
      for (const _ of "hand") await page.keyboard.press("ArrowLeft");
      release();
      await opened.editor.waitFor();
      await page.keyboard.type("my ");
      expect(await opened.file()).toBe("version: '2.0'\n# by my hand");
      // A page that crashes is not told so.
      await expect.poll(() => page.evaluate("sessionStorage.getItem('svc draft')")).toContain("by my hand");
      await page.reload();
      await opened.editor.waitFor();
      expect(await opened.file()).toBe("version: '2.0'\n# by my hand");
      expect(opened.faults).toEqual([]);
      await page.context().close();
    });

    it("leaves a text that is being composed to its input method", async () => {
      const opened = await place.open();
      const { page } = opened;
      const { release, answered } = await held(page, CODE);
      await opened.visit("deploy");
      await page.getByLabel("Deployment file").focus();
      await opened.compose("に");
      release();
      // The page has the editor, too, once this import has it.
      await page.evaluate(`import("${(await answered).url()}").then(() => undefined)`);
      await opened.compose("にほん");
      await page.keyboard.insertText("日本");
      await opened.editor.waitFor();
      expect(await opened.file()).toBe("日本");
      await opened.write(WEB);
      await page.keyboard.press("Control+End");
      await page.keyboard.type("count: ");
      await opened.compose("に");
      await opened.editor.locator(".fault").waitFor();
      await opened.compose("にほ");
      await page.keyboard.insertText("日本");
      expect(await opened.file()).toBe(`${WEB}count: 日本`);
      const name = page.getByLabel("Name of a service");
      await opened.write(WEB);
      await name.fill(" ");
      await opened.compose("d");
      await opened.compose("db");
      await page.keyboard.insertText("db");
      expect(await name.inputValue()).toBe(" db");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.getByLabel("Service name").count()).toBe(2);
      expect(opened.faults).toEqual([]);
      await page.context().close();
    });

    it("is a text area where it cannot be loaded", async () => {
      const opened = await place.open();
      const { page } = opened;
      await page.route(CODE, (route) => route.abort());
      await opened.visit("deploy");
      const area = page.getByLabel("Deployment file");
      // A template that comes late takes the place of nothing that was typed meanwhile.
      const late = await held(page, TEMPLATE);
      await opened.press("A web service");
      await late.asked;
      await area.fill("# by hand");
      late.release();
      await late.answered;
      expect(await area.inputValue()).toBe("# by hand");
      await opened.press("A web service");
      await expect.poll(() => area.inputValue()).toBe(WEB);
      const broken = WEB.replace("count: 1", "count: 0");
      await area.fill(broken);
      await opened.press("Line 43");
      await page.keyboard.type("2");
      await page.keyboard.press("Delete");
      expect(await area.inputValue()).toBe(broken.replace("count: 0", "count: 2"));
      await opened.page.getByLabel("Replicas").fill("3");
      await expect.poll(() => area.inputValue()).toBe(broken.replace("count: 0", "count: 3"));
      expect(opened.faults).toEqual([]);
      await page.context().close();
    });

    it("marks the lines with faults, with the sentences of svc sdl validate", async () => {
      await begin("A web service");
      const marked = () =>
        shown.editor.locator(".fault").evaluateAll((all) => all.map((each) => each.getAttribute("title")));
      const broken = WEB.replace("count: 1", "count: 0").replace("size: 32Mi", "size: 32mb");
      await shown.write(broken);
      const sentences = shown.page.locator(".remarks .strange");
      await expect.poll(() => sentences.count()).toBe(2);
      expect(await marked()).toEqual(await sentences.allTextContents());
      expect(await shown.editor.locator(".fault").allTextContents()).toEqual([
        expect.stringContaining("size: 32mb"),
        expect.stringContaining("count: 0"),
      ]);
      // Keys that come before the next frame go to the place, too.
      const leads =
        "const at = document.querySelector('.remarks button'); at.focus(); at.click(); document.activeElement !== at";
      expect(await shown.page.evaluate(leads)).toBe(true);
      await shown.write(WEB);
      await expect.poll(marked).toEqual([]);
    });

    it("undoes changes of the form too, which leave the cursor where it is", async () => {
      await begin("A web service");
      await expect.poll(() => input("CPU cores").inputValue()).toBe("0.1");
      const { keyboard } = shown.page;
      await shown.editor.focus();
      await keyboard.press("Control+End");
      await input("CPU cores").fill("0.25");
      await shown.editor.focus();
      // As one change: the editor undoes keys by themselves that come half a second apart.
      await keyboard.insertText("# the end");
      const changed = WEB.replace("units: 0.1", "units: 0.25");
      await expect.poll(text).toBe(`${changed}# the end`);
      await keyboard.press("Control+Z");
      expect(await text()).toBe(changed);
      await keyboard.press("Control+Z");
      expect(await text()).toBe(WEB);
      await expect.poll(() => input("CPU cores").inputValue()).toBe("0.1");
      await keyboard.press("Control+Shift+Z");
      expect(await text()).toBe(changed);
      await expect.poll(() => input("CPU cores").inputValue()).toBe("0.25");
    });

    it("finds a text, and lets the Tab key out", async () => {
      await begin("A web service");
      await expect.poll(text).toBe(WEB);
      const { keyboard } = shown.page;
      await shown.editor.focus();
      await keyboard.press("Control+F");
      await keyboard.type("localhost");
      await keyboard.press("Enter");
      await expect.poll(() => shown.page.locator(".cm-searchMatch-selected").allTextContents()).toEqual(["localhost"]);
      const panel = shown.page.locator(".cm-search");
      const words = await panel.locator("button:not([name=close]), label").allTextContents();
      const names = await panel
        .locator("[aria-label]")
        .evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")));
      expect(words.length + names.length).toBeGreaterThan(9);
      expect([...words, ...names].filter((word) => !Object.values(deploy.editor).includes(word ?? ""))).toEqual([]);
      expect(await shown.barriers()).toEqual([]);
      await keyboard.press("Escape");
      const isInside = () => shown.editor.evaluate((each) => each.matches(":focus"));
      expect(await isInside()).toBe(true);
      await keyboard.press("Tab");
      expect(await isInside()).toBe(false);
      await keyboard.press("Shift+Tab");
      expect(await isInside()).toBe(true);
      expect(await text()).toBe(WEB);
    });

    it("marks characters that are not seen, or turn the direction of others", async () => {
      await shown.write("# \u202b\u2068\u2060\u200d\u00a0\u3164 é");
      await expect.poll(() => shown.editor.locator(".cm-specialChar").count()).toBe(6);
    });

    it("has the colours of the page, light and dark", async () => {
      await begin("A web service");
      const key = shown.editor.locator(".key").first();
      await key.waitFor();
      const seen = new Set<string>();
      for (const colorScheme of ["light", "dark"] as const) {
        await shown.page.emulateMedia({ colorScheme });
        for (const part of [key, shown.editor, shown.editor.locator(".comment").first()]) {
          seen.add(await part.evaluate((each) => Reflect.get(globalThis, "getComputedStyle")(each).color));
        }
        expect(await shown.barriers()).toEqual([]);
      }
      expect(seen.size).toBe(6);
      await shown.page.emulateMedia({ colorScheme: null });
    });

    it("takes a file that is dropped on it as a whole", async () => {
      await begin("A web service");
      const dataTransfer = await shown.page.evaluateHandle(
        `(() => {
          const data = new DataTransfer();
          data.items.add(new File(["version: x"], "mine.yaml"));
          return data;
        })()`,
      );
      await shown.editor.dispatchEvent("drop", { dataTransfer });
      await expect.poll(text).toBe("version: x");
      await expect.poll(() => shown.page.locator(".command code").textContent()).toContain("mine.yaml");
    });
  });

  it("broke no rule of the pages", () => {
    expect(shown.faults).toEqual([]);
  });

  /** The first sentence that the command line prints for a file. */
  function sentenceOf(broken: string): string {
    try {
      loadSdl(broken, { file: "web.yaml" });
    } catch (error) {
      if (!(error instanceof SdlError)) throw error;
      return `${error.message.replace(/ \(and \d+ more\)$/, "")}; ${error.issues[0]?.remedy}`;
    }
    throw new Error("the file has no fault");
  }
});
