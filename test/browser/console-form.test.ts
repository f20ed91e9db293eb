import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadSdl, SdlError } from "../../src/sdl/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture, ROOT } from "../support/index.ts";

const WEB = readFileSync(join(ROOT, "examples/web.yaml"), "utf8");
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
  const file = () => shown.page.getByLabel("Deployment file");
  const text = () => file().inputValue();

  async function begin(template: string): Promise<void> {
    await shown.visit("deploy");
    await shown.press(template);
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
    await file().fill(WEB.replace("size: 32Mi", "size: 48Mi").replace("- global: true", "- service: web"));
    await expect.poll(() => input("Memory").inputValue()).toBe("48Mi");
    expect(await input("Open to everybody").isChecked()).toBe(false);
  });

  it("rests while the text has faults beyond it, with the sentence of svc sdl validate", async () => {
    await begin("A web service");
    const broken = WEB.replace("    image:", "    imagee: x\n    image:");
    await file().fill(broken);
    await expect.poll(() => form().getByText(sentenceOf(broken)).count()).toBe(1);
    expect(await input("Image").isDisabled()).toBe(true);
    await file().fill(`${WEB}: [`);
    await expect.poll(() => input("Image").isDisabled()).toBe(true);
    await file().fill(WEB);
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
        const { manifest } = loadSdl(await page.getByLabel("Deployment file").inputValue());
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
    expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await opened.barriers()).toEqual([]);
    await opened.page.context().close();
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
