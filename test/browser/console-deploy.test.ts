import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/chromium.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture } from "../support/index.ts";

describeWithBrowser("deploying from the console", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture, { providers: 2 });
  });
  afterAll(() => fixture.close());

  it("shows what each provider would ask, on the pages of a node and of svc console", async () => {
    const pages = [await place.open(), await place.openAt(await place.console())];
    for (const opened of pages) {
      await opened.visit("deploy");
      await opened.press("A web service");
      for (const { address } of place.providers) await expect.poll(() => opened.text()).toContain(address);
      await expect.poll(() => opened.page.getByText("yes", { exact: true }).count()).toBe(2);
      expect(opened.faults).toEqual([]);
    }
  });
});
