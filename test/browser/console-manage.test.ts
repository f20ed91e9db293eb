import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { formatDecShort } from "../../src/util/index.ts";
import { Deployment_State } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { LeaseKey } from "../../src/wire/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace } from "../support/console/place.ts";
import { Fixture, ROOT } from "../support/index.ts";
import { TestTenant } from "../support/tenant.ts";

/** A transaction waits for its block on a machine that does other work. */
const SLOW = { timeout: 20_000 };
const DEPOSIT = 5_000_000n;
const WEB = readFileSync(join(ROOT, "examples/web.yaml"), "utf8");

/** Millionths of a token as pages write them. */
const tokens = (amount: bigint): string => formatDecShort(amount * 10n ** 12n);

describeWithBrowser("the pages that change and end a deployment", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let tenant: TestTenant;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture);
    const client = place.node.client();
    fixture.defer(() => client.close());
    tenant = new TestTenant(client, place.key());
  });
  afterAll(() => fixture.close());

  /** A deployment with a lease, made without a page. */
  async function leased(text = WEB): Promise<LeaseKey> {
    const { order } = await tenant.order(text);
    await tenant.awaitBids(order);
    return tenant.lease(order, place.providers[0]?.address ?? "");
  }

  const pageOf = ({ owner, dseq }: LeaseKey): string => `deployment/${owner}/${dseq}`;

  /** Clicks on what a person sees, counted. */
  function counted({ page }: ConsolePage) {
    let clicks = 0;
    return {
      clicks: () => clicks,
      open: async (name: string) => {
        clicks += 1;
        await page.locator("summary", { hasText: new RegExp(`^${name}$`) }).click();
      },
      press: async (name: string) => {
        clicks += 1;
        await page.getByRole("button", { name, exact: true }).click();
      },
    };
  }

  /** The funds of a deployment on the chain. */
  async function escrowOf(lease: LeaseKey) {
    const { escrowAccount } = await tenant.deployment(lease);
    if (escrowAccount === undefined) throw new Error(`deployment ${lease.dseq} has no money`);
    return escrowAccount;
  }

  it("close a deployment in two clicks, with the refund known before and equal after", async () => {
    const lease = await leased();
    const { opened } = await place.openWithKeplr();
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Close");
    await expect.poll(() => opened.text()).toContain("A close returns now");
    expect(await opened.barriers()).toEqual([]);
    await hand.press("Close the deployment");
    await expect.poll(() => opened.text(), SLOW).toContain("It is the amount shown, less these blocks.");
    expect(hand.clicks()).toBe(2);
    const { transferred } = await escrowOf(lease);
    const returned = DEPOSIT - BigInt(transferred?.amount ?? 0);
    expect(await opened.text()).toContain(`Returned${tokens(returned)} TOKEN`);
    expect(await opened.text()).toContain(`Transfers to the depositors${tokens(returned)} TOKEN ${lease.owner}`);
    await opened.press("Ask the provider");
    await expect.poll(() => opened.text()).toContain("It has ended there too");
    expect(await opened.barriers()).toEqual([]);
    expect(opened.faults).toEqual([]);
    await opened.page.context().close();
  });

  it("say so where the refund is not the one that was shown, and where the transfers are other ones", async () => {
    const lease = await leased();
    const { opened } = await place.openWithKeplr();
    await opened.page.route("**/api/rpc", async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replace(/("key":"returned","value":")\d+/g, "$19");
      await route.fulfill({ response: answer, body: text });
    });
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Close");
    await hand.press("Close the deployment");
    await expect.poll(() => opened.text(), SLOW).toContain("It is not the amount shown, less these blocks.");
    expect(await opened.text()).toContain("The transfers in its events come to another amount.");
    await opened.page.unrouteAll({ behavior: "ignoreErrors" });
    await opened.page.context().close();
  });

  it("add thirty days of money in three clicks by a wallet that signs amino JSON alone", async () => {
    const lease = await leased();
    const { opened, double } = await place.openWithKeplr({ aminoOnly: true });
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Top up");
    await hand.press("30 days more");
    const [, then = ""] = /With this amountblock ([\d ]+), about/.exec(await opened.text()) ?? [];
    expect(await opened.barriers()).toEqual([]);
    await hand.press("Add this amount");
    await expect.poll(() => opened.text(), SLOW).toContain("succeeded");
    expect(hand.clicks()).toBe(3);
    expect(double.asked).toContain("amino svc-test-1");
    expect((await escrowOf(lease)).exhaustsAt).toBe(BigInt(then.replaceAll(" ", "")));
    expect(opened.faults).toEqual([]);
    await opened.page.context().close();
  });

  it("send nothing for an account to which the wallet was switched meanwhile", async () => {
    const lease = await leased();
    const { opened } = await place.openWithKeplr({ switchTo: place.key("neighbour") });
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Close");
    await hand.press("Close the deployment");
    await expect.poll(() => opened.text(), SLOW).toContain("the account of the wallet has changed");
    expect((await tenant.deployment(lease)).deployment?.state).toBe(Deployment_State.active);
    // Wallets tell pages of the switch by this event.
    await opened.page.evaluate("dispatchEvent(new Event('keplr_keystorechange'))");
    await expect.poll(() => opened.text()).not.toContain("Change or end it");
    await opened.page.context().close();
  });

  it("let two tabs of one account take turns", async () => {
    const lease = await leased();
    const context = await place.context();
    const tabs = [];
    for (const amount of ["1", "2"]) {
      const { opened } = await place.openWithKeplr({}, { context });
      await opened.visit(pageOf(lease));
      const hand = counted(opened);
      await hand.open("Top up");
      await opened.page.getByLabel("Amount in TOKEN").fill(amount);
      tabs.push({ opened, hand });
    }
    await Promise.all(tabs.map(({ hand }) => hand.press("Add this amount")));
    for (const { opened } of tabs) await expect.poll(() => opened.text(), SLOW).toContain("succeeded");
    const { deposits, transferred } = await escrowOf(lease);
    const given = BigInt(deposits[0]?.remaining?.amount ?? "0") + BigInt(transferred?.amount ?? "0");
    expect(given).toBe(DEPOSIT + 3_000_000n);
    await context.close();
  });
});
