import { afterAll, beforeAll, expect, it } from "vitest";
import { ChainClient } from "../../src/client/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { sampleFile } from "../support/provider/deployment.ts";
import { TestTenant } from "../support/tenant.ts";

describeWithBrowser("a running deployment in the console", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let lease: LeaseKey;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture, { blockIntervalMs: 300 });
    lease = await run(sampleFile({ job: "echo started; echo ERROR no route; sleep 1000" }));
  });
  afterAll(() => fixture.close());

  /** Brings a deployment of the tenant to the provider, until it is ready. */
  async function run(file: string): Promise<LeaseKey> {
    const client = new ChainClient(place.node.address.replace("tcp:", "http:"));
    fixture.defer(() => client.close());
    const tenant = new TestTenant(client, place.key());
    const ordered = await tenant.order(file);
    await tenant.awaitBids(ordered.id);
    const leased = await tenant.lease(ordered.order, provider().address);
    await tenant.sendManifest(ordered, provider().address);
    await waitFor(async () => {
      const services = Object.values((await tenant.status(leased)).services);
      return services.length > 0 && services.every(({ available, total }) => available === total);
    }, "the services to be ready");
    return leased;
  }

  function provider() {
    const [found] = place.providers;
    if (found === undefined) throw new Error("the place has no provider");
    return found;
  }

  /** From the list of deployments: the first click of each task. */
  async function openDeployment(opened: ConsolePage): Promise<void> {
    await opened.visit("deployments");
    await opened.page
      .getByRole("link", { name: String(lease.dseq), exact: true })
      .first()
      .click();
    await expect.poll(() => opened.text()).toContain("Services, as their providers see them");
  }

  const view = (opened: ConsolePage, name: string) =>
    opened.page.getByRole("navigation", { name: "Views" }).getByRole("link", { name }).click();

  it("shows the logs of all services after two clicks and one signature", async () => {
    const { double, opened } = await place.openWithKeplr();
    await openDeployment(opened);
    await expect.poll(() => opened.text()).toContain("1/1");
    await opened.page.screenshot({ path: "/tmp/streams-overview.png", fullPage: true });
    await view(opened, "Logs");
    await expect.poll(() => opened.text()).toContain("no route");
    await opened.page.screenshot({ path: "/tmp/streams-logs.png", fullPage: true });
    await view(opened, "Events");
    await expect.poll(() => opened.text()).toContain("Started");
    await opened.page.screenshot({ path: "/tmp/streams-events.png", fullPage: true });
    await view(opened, "Shell");
    await new Promise((r) => setTimeout(r, 4000));
    console.log(await opened.text(), double.asked, opened.faults);
    await opened.page.screenshot({ path: "/tmp/streams-shell.png", fullPage: true });
    console.log(
      provider()
        .daemon.logs.slice(-10)
        .map((x) => JSON.stringify(x))
        .join("\n"),
    );
    expect(opened.faults).toEqual([]);
  });
});
