import { describe, expect, test } from "vitest";
import {
  BLOCK_MS,
  type DeployFixture,
  openDeployFixture,
  type ProviderPlan,
} from "../../../test/cli/deploy-fixture.ts";
import { MIN_DEPOSIT } from "../../../test/support/chain/index.ts";
import type { ProviderRecord } from "../../client/market/types.ts";
import { listDeployments } from "../../tenant/manage/deployments.ts";
import { closeAndSettle, topUp } from "../../tenant/manage/money.ts";
import { pickDeployment, serviceLeases } from "../../tenant/manage/pick.ts";
import { FileJournal } from "../../tenant/node/journal.ts";
import { runDeploy } from "../../tenant/run.ts";
import type { ServiceState } from "../../tenant/session/gateway.ts";
import { runUpdate, type UpdateRequest } from "../../tenant/update.ts";
import { MsgPauseGroupSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { MsgCreateLeaseSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { packAny } from "../../wire/index.ts";
import { closeJson, closeText, psTable } from "./commands.ts";
import { tellIdle } from "./logs.ts";

let fixture: DeployFixture;

function open(plans?: Readonly<Record<string, ProviderPlan>>): DeployFixture {
  fixture = openDeployFixture(plans);
  return fixture;
}

describe("short forms", () => {
  const update = (options: Partial<UpdateRequest> = {}) =>
    runUpdate(fixture.parts(), { ...fixture.request(), ...options }, fixture.reporter);

  test("an update changes the hash and sends the manifest", async () => {
    open();
    const { dseq } = await fixture.deploy();
    fixture.write({ env: "A=2" });
    const result = await update();
    expect(result.dseq).toBe(dseq);
    expect([...fixture.manifests.values()][0]).toHaveLength(2);
    // The updated file is the deployment's file from now on.
    expect((await fixture.deploy()).dseq).toBe(dseq);
    await update();
    expect(fixture.notes.join("")).toContain("has this manifest already");
  });

  test("an update that is interrupted on the way says that the chain has it already", async () => {
    open();
    const { dseq } = await fixture.deploy();
    fixture.write({ env: "A=3" });
    const stop = new AbortController();
    const parts = fixture.parts();
    const openGateway = (...given: Parameters<typeof parts.openGateway>) => {
      stop.abort();
      return parts.openGateway(...given);
    };
    const request = { ...fixture.request({ signal: stop.signal }) };
    await expect(runUpdate({ ...parts, openGateway }, request, fixture.reporter)).rejects.toMatchObject({
      message: `the chain has the new manifest of deployment ${dseq}: interrupted`,
      hint: expect.stringContaining(`--dseq ${dseq} sends it again`),
    });
  });

  test("an update that changes groups names what changed, and changes nothing", async () => {
    open();
    const { dseq } = await fixture.deploy();
    fixture.write({ count: 2 });
    await expect(update()).rejects.toMatchObject({
      message: `deployment ${dseq}: group anywhere: web count was 1 and is 2: groups cannot be changed`,
      hint: expect.stringContaining(`svc deploy close --dseq ${dseq}`),
    });
    expect([...fixture.manifests.values()][0]).toHaveLength(1);
  });

  test("topping up adds to the money of a deployment", async () => {
    open();
    const dseq = BigInt((await fixture.deploy()).dseq);
    const market = fixture.tenantMarket();
    const escrow = async () => (await market.deployment(dseq))?.escrow;
    const before = await escrow();
    await topUp(market, dseq, { denom: "utoken", amount: 1_000_000n });
    const after = await escrow();
    expect(after?.exhaustsAt).toBe((before?.exhaustsAt ?? 0n) + 100_000n);
    expect((after?.balance ?? 0n) + (after?.transferred ?? 0n)).toBe(MIN_DEPOSIT + 1_000_000n);
    const nothing = topUp(market, 1n << 60n, { denom: "utoken", amount: 1_000_000n });
    await expect(nothing).rejects.toThrow();
  });

  test("closing says who was paid what and what came back", async () => {
    open();
    await fixture.deploy();
    fixture.chain.nextBlock(9);
    const before = await pickDeployment(fixture.parts(), undefined);
    const held = fixture.chain.balance(fixture.tenant);
    const earned = fixture.chain.balance(fixture.key("p1").address);
    const result = await closeAndSettle(
      { market: fixture.tenantMarket(), journal: new FileJournal(fixture.home) },
      before,
    );
    const paid = fixture.chain.balance(fixture.key("p1").address) - earned;
    const returned = fixture.chain.balance(fixture.tenant) - held;
    expect(paid).toBeGreaterThan(0n);
    expect(paid + returned).toBe(MIN_DEPOSIT);
    expect(result).toMatchObject({
      paid: [{ provider: fixture.key("p1").address, amount: { denom: "utoken", amount: paid } }],
      returned: { denom: "utoken", amount: returned },
    });
    expect(closeText(result)).toContain(`returned  ${returned}utoken\n`);
    expect(closeJson(result)).toMatchObject({ returned: { denom: "utoken", amount: `${returned}` } });
    expect(new FileJournal(fixture.home).entries(fixture.tenant, fixture.chain.chainId)).toEqual([]);
    await expect(pickDeployment(fixture.parts(), before.dseq)).rejects.toThrow("the deployment is closed");
    await expect(pickDeployment(fixture.parts(), undefined)).rejects.toThrow("has no active deployment");
  });

  test("one of several deployments has to be named", async () => {
    open();
    const first = await fixture.deploy();
    const second = await fixture.deploy({ fresh: true });
    await expect(pickDeployment(fixture.parts(), undefined)).rejects.toMatchObject({
      message: `${first.dseq} (web.yaml), ${second.dseq} (web.yaml): several deployments are active`,
      hint: "say which one with --dseq",
    });
    expect((await pickDeployment(fixture.parts(), BigInt(second.dseq))).dseq).toBe(BigInt(second.dseq));
    await expect(pickDeployment(fixture.parts(), 999n)).rejects.toThrow("has no deployment 999");
  });

  test("the list shows the balance of now and when it ends", async () => {
    open();
    await fixture.deploy();
    const leasedAt = fixture.chain.height;
    fixture.chain.nextBlock(100);
    const { market, openGateway, journal } = fixture.parts();
    const now = Date.UTC(2025, 5, 1);
    const [line] = await listDeployments({ market, openGateway, journal, now: () => now });
    // Ten per block since the block of the lease.
    const spent = 10n * (fixture.chain.height - leasedAt);
    expect(line).toMatchObject({
      state: "active",
      services: [{ name: "web", available: 1, total: 1 }],
      uris: ["http://web-1.example:8080/"],
      ports: ["tcp://localhost:30001"],
      price: { denom: "utoken", amount: "10" },
      balance: { denom: "utoken", amount: `${MIN_DEPOSIT - spent}` },
      problems: [],
    });
    const blocks = BigInt(line?.blocks_left ?? "0");
    expect(blocks).toBe((MIN_DEPOSIT - spent) / 10n);
    expect(line?.until).toBe(new Date(now + Number(blocks) * BLOCK_MS).toISOString().replace(".000Z", "Z"));
    expect(psTable(line === undefined ? [] : [line])).toContain("web 1/1");
  });

  test("the list tells waiting, bids, a lease without its manifest and a running deployment apart", async () => {
    open({ p1: { price: "10", delay: 2 }, p2: { price: "11", delay: 3 } });
    const controller = new AbortController();
    const reporter = {
      ...fixture.reporter,
      waiting: (text: string) => (text.startsWith("a bid on") ? controller.abort() : undefined),
    };
    const request = fixture.request({ signal: controller.signal });
    await expect(runDeploy(fixture.parts(), request, reporter)).rejects.toThrow("interrupted");
    const { market, openGateway, journal } = fixture.parts();
    // As if another machine had begun it.
    const elsewhere = { ...journal, entries: () => [] };
    const lineOf = async (known: typeof journal) =>
      (await listDeployments({ market, openGateway, journal: known, now: () => 0 }))[0];
    const line = () => lineOf(elsewhere);
    const [dseq] = await fixture.active();
    const go = `svc deploy ${request.file} continues it, svc deploy close ${dseq} ends it and returns its money`;
    expect(await lineOf(journal)).toMatchObject({ state: "waiting for bids", next: go });
    expect(await line()).toMatchObject({ state: "waiting for bids", next: "" });
    fixture.block();
    fixture.block();
    expect(await line()).toMatchObject({ state: "1 bid" });
    fixture.block();
    const take = `svc tx market lease create --dseq ${dseq} --gseq 1 --oseq 1 --provider ADDRESS`;
    expect(await line()).toMatchObject({ state: "2 bids", next: expect.stringContaining(take) });
    const provider = fixture.key("p1").address;
    const bidId = { owner: fixture.tenant, dseq: dseq ?? 0n, gseq: 1, oseq: 1, provider };
    fixture.chain.mustSend([packAny(MsgCreateLeaseSchema, { bidId })], { from: fixture.key("alice") });
    expect(await line()).toMatchObject({
      state: "leased, without its manifest",
      problems: [`${provider} has no manifest`],
      next: `send the manifest with: svc provider send-manifest FILE --dseq ${dseq} --provider ${provider}`,
    });
    expect(await lineOf(journal)).toMatchObject({ next: go });
    await fixture.deploy();
    expect(await lineOf(journal)).toMatchObject({ state: "active", next: "" });
    const pause = packAny(MsgPauseGroupSchema, { id: { owner: fixture.tenant, dseq: dseq ?? 0n, gseq: 1 } });
    fixture.chain.mustSend([pause], { from: fixture.key("alice") });
    const start = `open a new order with: svc tx deployment group start --dseq ${dseq} --gseq 1`;
    expect(await line()).toMatchObject({ state: "paused", next: start });
  });

  test("the list shows what a provider says of services that do not work", async () => {
    open();
    await fixture.deploy();
    const { market, openGateway, journal } = fixture.parts();
    const sick = (provider: Parameters<typeof openGateway>[0]) => ({
      ...openGateway(provider),
      status: async () => ({
        version: "",
        ports: [],
        unknown: true as const,
        services: [{ name: "web", available: 0, total: 1, updated: 1, urls: [], error: "exit code 1, 3 restarts" }],
      }),
    });
    const [line] = await listDeployments({ market, openGateway: sick, journal, now: () => 0 });
    expect(line?.problems).toEqual([
      expect.stringMatching(/^svc1\w+ cannot look at its containers now: what is shown is from its last look$/),
      "web: exit code 1, 3 restarts",
    ]);
  });

  test("while an update fails, the list says that the version before it serves", async () => {
    open();
    await fixture.deploy();
    const { market, openGateway, journal } = fixture.parts();
    const service = { name: "web", available: 1, total: 1, updated: 0, urls: [] };
    const problems = async (change: Partial<ServiceState>): Promise<unknown> => {
      const state = { version: "", ports: [], services: [{ ...service, ...change }] };
      const updating = (provider: ProviderRecord) => ({ ...openGateway(provider), status: async () => state });
      return (await listDeployments({ market, openGateway: updating, journal, now: () => 0 }))[0]?.problems;
    };
    const serves = "web: the version before the last update serves with 1 of 1 replicas";
    expect(await problems({ error: "image x:2 does not exist in the registry; check name and tag" })).toEqual([
      `${serves}; the new one: image x:2 does not exist in the registry; check name and tag`,
    ]);
    expect(await problems({})).toEqual([`${serves}, the new one is on its way`]);
    expect(await problems({ updated: 1 })).toEqual([]);
  });

  test("logs of containers that never started say why", async () => {
    open();
    await fixture.deploy();
    const parts = fixture.parts();
    const [found] = await serviceLeases(parts, undefined, undefined);
    if (found === undefined) throw new Error("no lease");
    const heard = async (services: readonly string[], change: Partial<ServiceState>): Promise<readonly string[]> => {
      const said: string[] = [];
      const state = {
        version: "",
        ports: [],
        services: [{ name: "web", available: 0, total: 2, updated: 0, urls: [], ...change }],
      };
      const openGateway = (provider: ProviderRecord) => ({ ...parts.openGateway(provider), status: async () => state });
      await tellIdle({ parts: { ...parts, openGateway } }, found, { services, say: (text) => void said.push(text) });
      return said;
    };
    expect(await heard([], { error: "image x does not exist" })).toEqual(["service web: image x does not exist"]);
    expect(await heard(["web"], {})).toEqual(["service web: 0 of 2 replicas run; see why: svc deploy ps"]);
    expect(await heard(["db"], {})).toEqual([]);
    expect(await heard([], { available: 2, updated: 2 })).toEqual([]);
  });
});
