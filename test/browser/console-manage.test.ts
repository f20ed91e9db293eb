import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { formatDecShort } from "../../src/util/index.ts";
import { MsgCreateValidatorSchema, MsgDelegateSchema } from "../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { Deployment_State } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { LeaseKey } from "../../src/wire/index.ts";
import { packAny } from "../../src/wire/index.ts";
import { coin, createValidatorMessage, operatorAddress } from "../support/chain/index.ts";
import { describeWithBrowser } from "../support/chromium.ts";
import type { KeplrDouble } from "../support/console/keplr.ts";
import type { ConsolePage } from "../support/console/page.ts";
import { ConsolePlace, connectKeplr } from "../support/console/place.ts";
import { Fixture, ROOT } from "../support/index.ts";
import { publication, testCertificate } from "../support/provider/identities.ts";
import { mustSend } from "../support/signer.ts";
import { TestTenant } from "../support/tenant.ts";

const DEPOSIT = 5_000_000n;
const WEB = readFileSync(join(ROOT, "examples/web.yaml"), "utf8");

const [, IMAGE = ""] = /image: (\S+)/.exec(WEB) ?? [];

/** Millionths of a token as pages write them. */
const tokens = (amount: bigint): string => formatDecShort(amount * 10n ** 12n);

describeWithBrowser("the pages that change and end a deployment", () => {
  const fixture = new Fixture();
  let place: ConsolePlace;
  let tenant: TestTenant;
  /** A page with the tenant's wallet connected. */
  let opened: ConsolePage;
  let double: KeplrDouble;

  beforeAll(async () => {
    place = await ConsolePlace.start(fixture);
    const client = place.node.client();
    fixture.defer(() => client.close());
    tenant = new TestTenant(client, place.key());
    ({ opened, double } = await place.openWithKeplr());
  });
  afterAll(() => fixture.close());

  /** A deployment with a lease, made without a page. */
  async function leased(text = WEB): Promise<LeaseKey> {
    const { order } = await tenant.order(text);
    await tenant.awaitBids(order);
    return tenant.lease(order, place.providers[0]?.address ?? "");
  }

  /** The same with its services running. */
  async function running(): Promise<{ readonly lease: LeaseKey; readonly file: string }> {
    const order = await tenant.order(WEB);
    await tenant.awaitBids(order.id);
    const lease = await tenant.lease(order.order, place.providers[0]?.address ?? "");
    await tenant.sendManifest(order, lease.provider);
    return { lease, file: WEB };
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
      choose: async (name: string, { text, ...file }: { readonly name: string; readonly text: string }) => {
        clicks += 1;
        await page.getByLabel(name).setInputFiles({ ...file, mimeType: "text/plain", buffer: Buffer.from(text) });
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
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Close");
    await expect.poll(() => opened.text()).toContain("A close returns now");
    expect(await opened.barriers()).toEqual([]);
    await hand.press("Close the deployment");
    await expect.poll(() => opened.text()).toContain("It is the amount shown, less these blocks.");
    expect(hand.clicks()).toBe(2);
    expect(await opened.page.locator(":focus").textContent()).toContain("Closed in block");
    const { transferred } = await escrowOf(lease);
    const returned = DEPOSIT - BigInt(transferred?.amount ?? 0);
    expect(await opened.text()).toContain(`Returned${tokens(returned)} TOKEN`);
    expect(await opened.text()).toContain(`Transfers to the depositors${tokens(returned)} TOKEN ${lease.owner}`);
    await opened.press("Ask the provider");
    await expect.poll(() => opened.text()).toContain("It has ended there too");
    // A provider that says otherwise is quoted beside the chain.
    const services = { web: { name: "web", available: 1, total: 1 } };
    await opened.page.route("**/lease/*/1/1/status", (route) => route.fulfill({ json: { services } }));
    await opened.press("Ask the provider");
    await expect.poll(() => opened.text()).toMatch(/Closed in block.*It still names these services: web/);
    await opened.page.unrouteAll({ behavior: "ignoreErrors" });
    expect(await opened.barriers()).toEqual([]);
    expect(opened.faults).toEqual([]);
  });

  it("say so where the refund is not the one that was shown, and where the transfers are other ones", async () => {
    const lease = await leased();
    await opened.page.route("**/api/rpc", async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text()).replace(/("key":"returned","value":")\d+/g, "$19");
      await route.fulfill({ response: answer, body: text });
    });
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Close");
    await hand.press("Close the deployment");
    await expect.poll(() => opened.text()).toContain("It is not the amount shown, less these blocks.");
    expect(await opened.text()).toContain("The transfers in its events come to another amount.");
    await opened.page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("keep what is open and written while the node leaves questions without an answer", async () => {
    const lease = await leased();
    await opened.visit(pageOf(lease));
    await counted(opened).open("Top up");
    const amount = opened.page.getByLabel("Amount in TOKEN");
    await amount.fill("2.5");
    let unanswered = 0;
    await opened.page.route("**/api/rpc", async (route) => {
      unanswered += 1;
      await route.abort();
    });
    await expect.poll(() => unanswered).toBeGreaterThan(3);
    expect(await amount.inputValue()).toBe("2.5");
    await opened.page.unrouteAll({ behavior: "ignoreErrors" });
    const shown = async () =>
      Number(/In the state of block([\d ]+)/.exec(await opened.text())?.[1]?.replaceAll(" ", ""));
    const before = await shown();
    expect(before).toBeGreaterThan(0);
    await expect.poll(shown).toBeGreaterThan(before);
    expect(await amount.inputValue()).toBe("2.5");
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
    await expect.poll(() => opened.text()).toContain("succeeded");
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
    await expect.poll(() => opened.text()).toContain("the account of the wallet has changed");
    expect((await tenant.deployment(lease)).deployment?.state).toBe(Deployment_State.active);
    // Wallets tell pages of the switch by this event.
    await opened.page.evaluate("dispatchEvent(new Event('keplr_keystorechange'))");
    await expect.poll(() => opened.text()).not.toContain("Change or end it");
    await opened.page.context().close();
  });

  it("change an image tag in three clicks, with the lines that change and the manifest sent", async () => {
    const { lease, file } = await running();
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Update");
    await expect.poll(() => opened.text()).toContain("This browser does not keep the file");
    await hand.choose("Open a file", { name: "web.yaml", text: file });
    await expect.poll(() => opened.text()).toContain("The chain has the manifest of this file.");
    await opened.write(file.replace(IMAGE, `${IMAGE}-2`));
    await expect
      .poll(() => opened.page.locator(".changes .new").allTextContents())
      .toEqual([`+     image: ${IMAGE}-2`]);
    expect(await opened.page.locator(".changes .gone").allTextContents()).toEqual([`−     image: ${IMAGE}`]);
    expect(await opened.barriers()).toEqual([]);
    await hand.press("Sign and update");
    await expect.poll(() => opened.text()).toContain("The services run");
    expect(hand.clicks()).toBe(3);
    expect(JSON.stringify(await (await tenant.gateway(lease.provider)).getManifest(lease))).toContain(`${IMAGE}-2`);
    expect(opened.faults).toEqual([]);

    // The browser keeps the text, also for a page that is loaded again.
    await opened.page.reload();
    await connectKeplr(opened);
    await opened.visit(pageOf(lease));
    await hand.open("Update");
    await expect.poll(() => opened.file()).toContain(`${IMAGE}-2`);
    expect(await opened.text()).toContain("The chain has the manifest of this file.");
  });

  it("keep the text of an update while other pages are shown, and when the page is loaded again", async () => {
    const { lease, file } = await running();
    const again = async () => {
      await opened.visit(pageOf(lease));
      await counted(opened).open("Update");
    };
    await again();
    await opened.write(file.replace(IMAGE, `${IMAGE}-4`));
    await opened.visit("blocks");
    await again();
    await expect.poll(() => opened.file()).toContain(`${IMAGE}-4`);
    await opened.page.reload();
    await connectKeplr(opened);
    await again();
    await expect.poll(() => opened.file()).toContain(`${IMAGE}-4`);
    await opened.write("");
    await opened.visit("blocks");
    await again();
    await expect.poll(() => opened.editor.isVisible()).toBe(true);
    expect(await opened.file()).toBe("");
    expect(opened.faults).toEqual([]);
  });

  it("keep what one tab edits while another leaves an older text, and a comment, which changes no manifest", async () => {
    const { lease, file } = await running();
    const show = async (tab: ConsolePage): Promise<void> => {
      await tab.visit(pageOf(lease));
      await counted(tab).open("Update");
    };
    await show(opened);
    await opened.write(file);
    await expect.poll(() => opened.text()).toContain("The chain has the manifest of this file.");
    await opened.write(`# mine\n${file}`);
    await opened.visit("blocks");
    const other = (await place.openWithKeplr({}, { context: opened.page.context() })).opened;
    for (const tab of [other, opened]) {
      await show(tab);
      await expect.poll(() => tab.file()).toContain("# mine");
    }
    await opened.write(file.replace(IMAGE, `${IMAGE}-5`));
    await opened.visit("blocks");
    await other.visit("blocks");
    await show(other);
    await expect.poll(() => other.file()).toContain(`${IMAGE}-5`);
    await other.page.close();
    expect(opened.faults).toEqual([]);
  });

  it("say before a signature which changes need a new deployment", async () => {
    const { lease, file } = await running();
    double.asked.splice(0);
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Update");
    await opened.write(file.replace("size: 32Mi", "size: 64Mi").replace(IMAGE, "x:1"));
    await expect.poll(() => opened.text()).toContain("memory was 32Mi and is 64Mi");
    expect(await opened.page.getByRole("button", { name: "Sign and update" }).count()).toBe(0);
    expect(double.asked.some((question) => question.startsWith("direct"))).toBe(false);
    await hand.press("Make a new deployment of this file");
    await expect.poll(() => opened.file()).toContain("64Mi");
    expect(opened.address).toBe("#/deploy");
  });

  it("sign no update for a provider that does not answer, and send it once it does", async () => {
    const { lease, file } = await running();
    double.asked.splice(0);
    await opened.visit(pageOf(lease));
    const hand = counted(opened);
    await hand.open("Update");
    await opened.write(file.replace(IMAGE, `${IMAGE}-3`));
    const [provider] = place.providers;
    await provider?.daemon.halt();
    await hand.press("Sign and update");
    await expect.poll(() => opened.text()).toContain("Nothing was signed");
    expect(double.asked.some((question) => question.startsWith("direct"))).toBe(false);
    await provider?.daemon.start();
    await hand.press("Sign and update");
    await expect.poll(() => opened.text()).toContain("The services run");
  });

  it("list the deployments of the connected account with state, cost and the end of their money", async () => {
    const lease = await leased();
    const { dseq } = (await tenant.order(WEB)).id;
    await opened.visit("deployments");
    const list = opened.page.getByRole("region", { name: "Your active deployments" });
    const row = (number: bigint) => list.getByRole("row", { name: new RegExp(`^${number} `) });
    await expect
      .poll(() => row(lease.dseq).textContent())
      .toMatch(/anywhereleased[\d.]+ TOKEN[\d.]+ TOKEN4\.\d+ TOKENblock/);
    await expect.poll(() => row(dseq).textContent()).toMatch(/anywherewaits for a bid––5 TOKEN–/);
    expect(await opened.barriers()).toEqual([]);
  });

  it("unbond a delegation, having seen the time it takes, and cancel it", async () => {
    const [validator, amount] = [operatorAddress(place.key("neighbour")), coin(3_000_000n)];
    const made = createValidatorMessage(place.key("neighbour"), { amount: 20_000_000n });
    await mustSend(tenant.client, place.key("neighbour"), packAny(MsgCreateValidatorSchema, made));
    const delegation = { delegatorAddress: tenant.key.address, validatorAddress: validator, amount };
    await mustSend(tenant.client, tenant.key, packAny(MsgDelegateSchema, delegation));
    await opened.visit("wallet/stake");
    const hand = counted(opened);
    await hand.open("Unbond");
    await expect.poll(() => opened.text()).toContain("Unbonding takes 21 days.");
    await opened.page.getByLabel("Amount in tokens").fill("2");
    expect(await opened.barriers()).toEqual([]);
    await hand.press("Begin to unbond");
    await expect.poll(() => opened.text()).toMatch(/Amount2 TOKENDue/);
    await hand.press("Cancel and delegate again");
    await expect.poll(() => opened.text()).toMatch(/Amount3 TOKEN.*UnbondingNone/);
    expect(opened.faults).toEqual([]);
  });

  it("give a deposit authorization and a fee allowance, and revoke them", async () => {
    const other = place.key("neighbour").address;
    await opened.visit("wallet/grants");
    for (const name of ["Allow deposits", "Allow fees"]) {
      const form = opened.page.locator("form").filter({ has: opened.page.getByRole("button", { name }) });
      await form.getByLabel("Address of the account").fill(other);
      await form.getByLabel("Amount in tokens").fill("7");
      await form.getByLabel("Last day").fill("2099-12-31");
      await opened.press(name);
      await expect.poll(() => form.textContent()).toContain("succeeded");
      await form.getByLabel("Address of the account").fill("svc1");
      await opened.press(name);
      await expect.poll(() => form.textContent()).toContain("It is no address of another account");
    }
    const given = opened.page.locator("section", { hasText: "Given to others" });
    const names = ["BasicAllowance", "DepositDeploymentAuthorization"];
    await expect.poll(async () => (await given.locator("h3").allTextContents()).sort()).toEqual(names);
    expect(await given.textContent()).toContain("7000000");
    expect(await opened.barriers()).toEqual([]);
    for (const left of [1, 0]) {
      await given.getByRole("button", { name: "Revoke" }).first().click();
      await expect.poll(() => given.locator("h3").count()).toBe(left);
    }
    expect(opened.faults).toEqual([]);
  });

  it("list all transactions of the account by pages, and its certificates with a way to revoke them", async () => {
    await mustSend(tenant.client, tenant.key, publication(tenant.key.address, await testCertificate(tenant.key)));
    await opened.visit("wallet/history");
    await expect.poll(() => opened.text()).toContain("MsgCreateCertificate");
    await opened.visit("wallet/history?upto=3");
    await expect.poll(() => opened.text()).toMatch(/None\.First page/);
    await opened.visit("wallet/certificates");
    expect(await opened.barriers()).toEqual([]);
    await opened.press("Revoke");
    await expect.poll(() => opened.text()).toContain("Staterevoked");
    expect(opened.faults).toEqual([]);
  });

  it("sign any message of the chain, shown as it will be signed", async () => {
    await opened.visit("wallet/message");
    await opened.page.getByLabel("Message").selectOption("/sdk.bank.v1beta1.MsgSend");
    const content = opened.page.getByLabel("Content in JSON");
    expect(JSON.parse(await content.inputValue())).toEqual({
      from_address: tenant.key.address,
      to_address: "",
      amount: [],
    });
    await content.fill('{"from_adress": "x"}');
    await opened.press("Check the content");
    await expect.poll(() => opened.text()).toContain("from_adress");
    expect(await opened.page.getByRole("button", { name: "Sign this message" }).count()).toBe(0);
    const amount = [{ denom: "utoken", amount: "5" }];
    const message = { from_address: tenant.key.address, to_address: place.key("neighbour").address, amount };
    await content.fill(JSON.stringify(message));
    await opened.press("Check the content");
    await expect.poll(() => opened.text()).toContain("It is signed as");
    expect(await opened.barriers()).toEqual([]);
    await opened.press("Sign this message");
    await expect.poll(() => opened.text()).toContain("succeeded");
    expect(opened.faults).toEqual([]);
  });

  it("let two tabs of one account take turns", async () => {
    const lease = await leased();
    const other = (await place.openWithKeplr({}, { context: opened.page.context() })).opened;
    const tabs = [];
    for (const [amount, tab] of [["1", opened] as const, ["2", other] as const]) {
      await tab.visit(pageOf(lease));
      const hand = counted(tab);
      await hand.open("Top up");
      await tab.page.getByLabel("Amount in TOKEN").fill(amount);
      tabs.push({ tab, hand });
    }
    await Promise.all(tabs.map(({ hand }) => hand.press("Add this amount")));
    for (const { tab } of tabs) await expect.poll(() => tab.text()).toContain("succeeded");
    const { deposits, transferred } = await escrowOf(lease);
    const given = BigInt(deposits[0]?.remaining?.amount ?? "0") + BigInt(transferred?.amount ?? "0");
    expect(given).toBe(DEPOSIT + 3_000_000n);
    await other.page.close();
  });
});
