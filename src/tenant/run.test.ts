import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BLOCK_MS, openWorld, type ProviderPlan, type World } from "../../test/cli/deploy-world.ts";
import { clientErrors } from "../client/index.ts";
import { parseDec, parseDecCoin } from "../util/index.ts";
import type { LeaseKey } from "../wire/index.ts";
import { FileJournal } from "./node/journal.ts";
import { addressLines } from "./result.ts";
import { runDeploy } from "./run.ts";
import { sleep } from "./session/clock.ts";
import { deployErrors } from "./session/errors.ts";
import type { BidPolicy } from "./session/policy.ts";
import type { DeployRequest } from "./session/session.ts";

let world: World;

function open(plans?: Readonly<Record<string, ProviderPlan>>): World {
  world = openWorld(plans);
  return world;
}

const never = new AbortController().signal;

describe("a deployment", () => {
  test("from the file to an address", async () => {
    const { file } = open();
    const result = await world.deploy();
    const [dseq] = await world.active();
    expect(result).toEqual({
      dseq: `${dseq}`,
      owner: world.tenant,
      groups: [{ gseq: 1, name: "anywhere", state: "open" }],
      leases: [
        {
          gseq: 1,
          oseq: 1,
          provider: world.key("p1").address,
          host: "provider.test:8443",
          price: { denom: "utoken", amount: "10" },
        },
      ],
      services: [
        {
          name: "web",
          gseq: 1,
          provider: world.key("p1").address,
          available: 1,
          total: 1,
          uris: ["http://web-1.example:8080/"],
        },
      ],
      uris: ["http://web-1.example:8080/"],
      ports: [{ service: "web", host: "localhost", port: 30_001, external_port: 8080, proto: "TCP" }],
      steps: result.steps,
    });
    const names = ["certificate", "order", "bid", "lease", "manifest", "ready", "first-200"];
    expect(result.steps.map(({ name }) => name)).toEqual(names);
    expect(addressLines(result)).toBe("http://web-1.example:8080/\ntcp://localhost:30001\n");
    expect(world.notes.join("")).toContain("PER MONTH");
    expect(world.steps[1]).toContain("deposit 5000000utoken, at most 1000utoken per block");
    expect(statSync(join(world.home, "deployments", `${dseq}.json`)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(world.home, "deployments", `${dseq}.json`), "utf8")).toContain(file);
  });

  test("again is the same deployment, --new is another one", async () => {
    open();
    const first = await world.deploy();
    const again = await world.deploy();
    expect(again.dseq).toBe(first.dseq);
    expect(world.notes.join("")).toContain("is there already");
    expect([...world.manifests.values()].map((sent) => sent.length)).toEqual([1]);
    const second = await world.deploy({ fresh: true });
    expect(second.dseq).not.toBe(first.dseq);
    expect(await world.active()).toHaveLength(2);
  });

  test("groups are leased in one transaction, each at its best price", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9.5", delay: 1 } });
    world.write({ groups: ["east", "west"] });
    const { leases } = await world.deploy();
    const { address } = world.key("p2");
    expect(leases.map(({ gseq, provider, price }) => [gseq, provider, price.amount])).toEqual([
      [1, address, "9.5"],
      [2, address, "9.5"],
    ]);
  });

  test("the cheaper bid wins when it comes within the window, and everybody's bid ends the wait", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "5", delay: 2 } });
    const started = world.chain.height;
    const { leases } = await world.deploy();
    expect(leases[0]?.provider).toBe(world.key("p2").address);
    // The order, two blocks of bids, the lease.
    expect(world.chain.height - started).toBe(4n);
  });

  test("a bid that comes too late does not count", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "5", delay: 5 } });
    const { leases } = await world.deploy({ bidWindow: 2n });
    expect(leases[0]?.provider).toBe(world.key("p1").address);
  });

  test("a named provider is waited for and taken at once", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 6 } });
    const { address } = world.key("p2");
    const { leases } = await world.deploy({ policy: { choice: { kind: "provider", address } } });
    expect(leases[0]?.provider).toBe(address);
  });

  test("the person at the terminal chooses", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 1 } });
    const asked: string[] = [];
    const choose: NonNullable<NonNullable<DeployRequest["questions"]>["choose"]> = async (group, offers) => {
      asked.push(...offers.map(({ bid }) => `${group} ${bid.price.amount / parseDec("1")}`));
      const last = offers.at(-1);
      if (last === undefined) throw new Error("nothing to choose from");
      return last.bid;
    };
    const { leases } = await world.deploy({ policy: { choice: { kind: "ask" } }, questions: { choose } });
    expect(asked).toEqual(["anywhere 1", "anywhere 10"]);
    expect(leases[0]?.price.amount).toBe("10");
  });

  test("nothing is sent when the user does not confirm", async () => {
    open();
    const questions = { confirm: async () => false };
    await expect(world.deploy({ questions })).rejects.toThrow("nothing was sent: cancelled");
    expect(await world.all()).toEqual([]);
  });

  test("a bid that is withdrawn meanwhile is replaced by the next one", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 1 } });
    const choose = async (_: string, offers: readonly { readonly bid: { readonly id: LeaseKey } }[]) => {
      const [first] = offers;
      if (first === undefined) throw new Error("nothing to choose from");
      if (first.bid.id.provider === world.key("p1").address) world.market.closeBid(world.key("p1"), first.bid.id);
      return first.bid as never;
    };
    const { leases } = await world.deploy({ policy: { choice: { kind: "ask" } }, questions: { choose } });
    expect(leases[0]?.provider).toBe(world.key("p2").address);
    expect(world.notes.join("")).toContain("a chosen bid is gone");
  });

  test("the deposit covers the first blocks at the highest price", async () => {
    open();
    world.write({ price: 90_000 });
    await world.deploy();
    expect(world.steps[1]).toContain("deposit 9000000utoken");
  });
});

describe("what can go wrong", () => {
  test("nobody bids: every provider's reason, and the remedy", async () => {
    const refusal = "our price 12utoken per block is above the order's 10utoken";
    open({ p1: { price: "12", refusal }, p2: { price: "1" } });
    await expect(world.deploy({ timeoutMs: 60_000 })).rejects.toMatchObject({
      codespace: "deploy",
      code: 1,
      message: "waited 60 s, nobody has bid: no bid to take",
      hint: expect.stringContaining("svc deploy close --dseq"),
    });
    const told = world.notes.filter((note) => note.includes("nobody has bid"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(`${world.key("p1").address} (provider.test:8443): ${refusal}\n    -> raise the amount`);
    expect(told[0]).toContain("it has not decided about the order yet");
  });

  test("every provider refuses for good: it ends at once, with their reasons", async () => {
    const refusal = "our price 12utoken per block is above the order's 10utoken";
    open({ p1: { price: "12", refusal, isFinal: true }, p2: { price: "1", refusal: "no room", isFinal: true } });
    const begun = world.clock.now();
    await expect(world.deploy({ timeoutMs: 600_000 })).rejects.toMatchObject({
      message: expect.stringMatching(/^every provider refuses order\/\S+ for good: no bid to take$/),
      hint: expect.stringContaining("svc deploy close --dseq"),
    });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(2 * BLOCK_MS);
    const [told] = world.notes.filter((note) => note.includes("nobody has bid"));
    expect(told).toContain(refusal);
    expect(told).toContain("no room");
    expect(await world.active()).toHaveLength(1);
  });

  test("one who may bid later, and one who was not chosen, make a difference", async () => {
    open({ p1: { price: "1", refusal: "no", isFinal: true }, p2: { price: "1", refusal: "no room now" } });
    await expect(world.deploy({ timeoutMs: 60_000 })).rejects.toThrow("waited 60 s, nobody has bid");
    const address = world.key("p1").address;
    const policy: BidPolicy = { choice: { kind: "provider", address } };
    await expect(world.deploy({ policy, timeoutMs: 60_000 })).rejects.toThrow("refuses");
  });

  test("of two groups, the one that nobody wants is told", async () => {
    open({ p1: { price: "1", refusal: "no", isFinal: true } });
    world.write({ groups: ["east", "west"] });
    await expect(world.deploy({ timeoutMs: 60_000 })).rejects.toThrow(/refuses order\/\S+\/1\/1 for good/);
  });

  test("the money has to cover the deposit and the fees", async () => {
    open();
    const balance = world.chain.balance(world.tenant);
    const deposit = { denom: "utoken", amount: balance - 9999n };
    world.fees = [{ denom: "utoken", amount: 5000n }];
    await expect(world.deploy({ deposit })).rejects.toMatchObject({
      message:
        `${world.tenant} has ${balance}utoken, the deposit is ${balance - 9999n}utoken ` +
        "and the fees of order and lease are 10000utoken: not enough funds",
    });
    expect(await world.all()).toEqual([]);
    world.fees = [{ denom: "stake", amount: 1n }];
    await expect(world.deploy()).rejects.toThrow(`${world.tenant} has 0stake`);
  });

  test("a node that is away for a while is waited for", async () => {
    open();
    const parts = world.parts();
    let failures = 3;
    const openBids: typeof parts.market.openBids = (dseq) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(clientErrors.unreachable("node")) : parts.market.openBids(dseq);
    };
    const market = { ...world.tenantMarket(), openBids };
    const result = await runDeploy({ ...parts, market }, world.request(), world.reporter);
    expect(result.leases).toHaveLength(1);
    expect(failures).toBeLessThan(0);
  });

  test("no provider at all", async () => {
    open({});
    await expect(world.deploy({ timeoutMs: 30_000 })).rejects.toThrow("no bid to take");
    expect(world.notes.join("")).toContain("no provider is registered");
  });

  test("all bids are above the limit", async () => {
    open();
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    await expect(world.deploy({ policy, timeoutMs: 600_000 })).rejects.toMatchObject({
      message:
        "there is one bid, the cheapest at 10utoken per block, above --max-price 9.5utoken, and nobody else bids: " +
        "no bid to take",
      hint: expect.stringContaining("with a higher --max-price"),
    });
    expect(world.clock.now()).toBeLessThan(60_000);
  });

  test("a bid above the limit is not the last word while others may bid", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9", delay: 6 } });
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    const { leases } = await world.deploy({ policy });
    expect(leases[0]?.provider).toBe(world.key("p2").address);
  });

  test("a bid above the limit is the last word when the others refuse for good", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9", refusal: "no gpu", isFinal: true } });
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    await expect(world.deploy({ policy, timeoutMs: 600_000 })).rejects.toThrow("and nobody else bids");
    expect(world.clock.now()).toBeLessThan(60_000);
  });

  test("a bidder whose gateway does not answer gets no lease", async () => {
    open({ p1: { price: "5", delay: 1, away: "connection refused" }, p2: { price: "10", delay: 1 } });
    const { leases } = await world.deploy();
    expect(leases.map(({ provider }) => provider)).toEqual([world.key("p2").address]);
    expect(world.notes.join("")).toContain(
      `${world.key("p1").address} (provider.test:8443) gets no lease: connection refused\n`,
    );
  });

  test("where no bidder's gateway answers, no lease is paid for", async () => {
    open({ p1: { price: "5", delay: 1, away: "the server is not the provider" } });
    const [dseq] = [world.chain.height];
    await expect(world.deploy()).rejects.toMatchObject({
      message: "group anywhere: no bidder's gateway answers: no bid to take",
      hint: expect.stringContaining(`svc deploy close --dseq ${dseq}`),
    });
    expect(await world.tenantMarket().leases((await world.active())[0] ?? 0n)).toEqual([]);
  });

  test("after a file without bids was changed, its old order is closed with the new one", async () => {
    open({ p1: { price: "10" } });
    await expect(world.deploy({ timeoutMs: 30_000 })).rejects.toThrow("nobody has bid");
    const [old] = await world.active();
    world.write({ price: 2000 });
    world.plans.set("p1", { price: "10", delay: 1 });
    const result = await world.deploy();
    expect(await world.active()).toEqual([BigInt(result.dseq)]);
    expect(world.notes.join("")).toContain(`deployment ${old}, made from an earlier version of the file, is closed`);
  });

  test("a file that changed under a running deployment is not deployed twice", async () => {
    open();
    const { dseq } = await world.deploy();
    world.write({ env: "A=2" });
    await expect(world.deploy()).rejects.toMatchObject({
      message: `deployment ${dseq} of ${world.file} is active: the deployment was made from another version of the file`,
      hint: expect.stringContaining(`svc deploy update ${world.file} --dseq ${dseq}`),
    });
    expect(await world.active()).toHaveLength(1);
  });

  test("a deposit that the chain or every lease would refuse is told before anything is sent", async () => {
    open();
    const small = { denom: "utoken", amount: 4_999_999n };
    await expect(world.deploy({ deposit: small })).rejects.toMatchObject({
      message:
        "--deposit 4999999utoken is less than 5000000utoken: the chain takes no less for a deployment: " +
        "the deposit is too small",
      hint: "write --deposit 5000000utoken or leave it out",
    });
    world.write({ price: 90_000 });
    const short = { denom: "utoken", amount: 8_999_999n };
    await expect(world.deploy({ deposit: short })).rejects.toMatchObject({
      message:
        "--deposit 8999999utoken is less than 9000000utoken: a lease starts with the money for 100 blocks, " +
        "at most 90000utoken each: the deposit is too small",
      hint: expect.stringContaining("or lower the amounts under pricing in the file"),
    });
    expect(await world.all()).toEqual([]);
    await world.deploy({ deposit: { denom: "utoken", amount: 9_000_000n } });
  });

  test("what this chain's own limits refuse is told before anything is sent, with its line", async () => {
    open();
    const parts = world.parts();
    const terms = async () => {
      const found = await world.tenantMarket().terms();
      return { ...found, limits: { ...found.limits, unitCpuMax: 50n } };
    };
    const market = { ...world.tenantMarket(), terms };
    await expect(runDeploy({ ...parts, market }, world.request(), world.reporter)).rejects.toMatchObject({
      message: expect.stringMatching(
        /web.yaml:6:\d+: profiles.compute.small.resources.cpu.units: "0.1" is out of range/,
      ),
      hint: "write 0.01 to 0.05",
    });
    expect(await world.all()).toEqual([]);
  });

  test("too little money is said before anything is sent", async () => {
    open();
    const deposit = { denom: "utoken", amount: 10n ** 15n };
    await expect(world.deploy({ deposit })).rejects.toThrow("the deposit is 1000000000000000utoken: not enough funds");
    expect(await world.all()).toEqual([]);
  });

  test.each([
    [{ deposit: { denom: "TOKEN", amount: 5n } }, "--deposit is in TOKEN, the deployment is paid in utoken"],
    [
      { policy: { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("1stake") } as const },
      "--max-price is in stake, the deployment is paid in utoken",
    ],
  ])("money of another denomination is refused before anything is sent: %#", async (change, text) => {
    open();
    await expect(world.deploy(change)).rejects.toThrow(text);
    expect(await world.all()).toEqual([]);
  });

  test("a manifest that the provider refuses", async () => {
    open();
    world.outcome = { kind: "refused", reason: "the image is not allowed here" };
    await expect(world.deploy()).rejects.toMatchObject({
      message: expect.stringContaining("the image is not allowed here: a provider did not take the manifest"),
      hint: expect.stringContaining(`change ${world.file} and send it with svc deploy update`),
    });
    world.outcome = { kind: "taken" };
    await world.deploy();
    expect(await world.all()).toHaveLength(1);
  });

  test("a lease that the provider ends while the services start", async () => {
    open();
    world.status = () => undefined;
    const running = world.deploy();
    const closing = (async () => {
      while (world.manifests.size === 0) await sleep(world.clock, 1000, never);
      const [dseq = 0n] = await world.active();
      world.market.closeBid(world.key("p1"), { owner: world.tenant, dseq, gseq: 1, oseq: 1 }, 10_000);
    })();
    await expect(running).rejects.toThrow('gave the reason "unstable": the lease has ended');
    await closing;
    Reflect.deleteProperty(world, "status");
    // The group is paused now: the next run opens a new order.
    const again = await world.deploy();
    expect(again.leases[0]?.oseq).toBe(2);
    expect(await world.all()).toHaveLength(1);
  });

  test("an interruption before the order leaves neither an order nor a record", async () => {
    open({ p1: { price: "10" } });
    const stop = new AbortController();
    const publish = world.publishCertificate.bind(world);
    world.publishCertificate = async () => {
      stop.abort();
      return publish();
    };
    const running = world.deploy({ signal: stop.signal });
    await expect(running).rejects.toMatchObject({ codespace: "deploy", code: deployErrors.interrupted.code });
    expect(await world.all()).toHaveLength(0);
    expect(new FileJournal(world.home).entries(world.tenant, world.tenantMarket().chainId)).toHaveLength(0);
  });

  test("an interruption says so and the next run goes on", async () => {
    open({ p1: { price: "10" } });
    const stop = new AbortController();
    const running = world.deploy({ signal: stop.signal });
    const stopping = sleep(world.clock, 20_000, never).then(() => stop.abort());
    await expect(running).rejects.toMatchObject({ codespace: "deploy", code: deployErrors.interrupted.code });
    await stopping;
    world.plans.set("p1", { price: "10", delay: 1 });
    await world.deploy();
    expect(await world.all()).toHaveLength(1);
    expect(world.notes.join("")).toContain("was begun before and is continued");
  });
});
