import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BLOCK_MS, type DeployFixture, openDeployFixture, type ProviderPlan } from "../../test/cli/deploy-fixture.ts";
import { clientErrors } from "../client/index.ts";
import { parseDec, parseDecCoin } from "../util/index.ts";
import { deploymentErrors, type LeaseKey, marketErrors } from "../wire/index.ts";
import { FileJournal } from "./node/journal.ts";
import { addressLines } from "./result.ts";
import { runDeploy } from "./run.ts";
import { sleep } from "./session/clock.ts";
import { deployErrors } from "./session/errors.ts";
import type { BidPolicy } from "./session/policy.ts";
import type { DeployRequest } from "./session/session.ts";

let fixture: DeployFixture;

function open(plans?: Readonly<Record<string, ProviderPlan>>): DeployFixture {
  fixture = openDeployFixture(plans);
  return fixture;
}

const never = new AbortController().signal;

describe("a deployment", () => {
  test("from the file to an address", async () => {
    const { file } = open();
    const result = await fixture.deploy();
    const [dseq] = await fixture.active();
    expect(result).toEqual({
      dseq: `${dseq}`,
      owner: fixture.tenant,
      groups: [{ gseq: 1, name: "anywhere", state: "open" }],
      leases: [
        {
          gseq: 1,
          oseq: 1,
          provider: fixture.key("p1").address,
          host: "provider.test:8443",
          price: { denom: "utoken", amount: "10" },
        },
      ],
      services: [
        {
          name: "web",
          gseq: 1,
          provider: fixture.key("p1").address,
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
    expect(fixture.notes.join("")).toContain("PER MONTH");
    expect(fixture.told).toContainEqual(
      expect.objectContaining({ kind: "bids", group: "anywhere", offers: [expect.objectContaining({ auditors: [] })] }),
    );
    expect([...new Set(fixture.waits.map((wait) => wait.for))]).toEqual([
      "node",
      "order",
      "bids",
      "gateway",
      "lease",
      "manifest",
      "port",
      "address",
    ]);
    expect(fixture.steps[1]).toContain("deposit 5000000utoken, at most 1000utoken per block");
    expect(statSync(join(fixture.home, "deployments", `${dseq}.json`)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(fixture.home, "deployments", `${dseq}.json`), "utf8")).toContain(file);
  });

  test("without a probe, the provider's word is a result of its own", async () => {
    open();
    const { probe: _, ...parts } = fixture.parts();
    const result = await runDeploy(parts, fixture.request(), fixture.reporter);
    expect(result).toMatchObject({ ready_by: "provider", uris: ["http://web-1.example:8080/"] });
    expect(result.steps.at(-1)?.name).toBe("ready");
    expect(await runDeploy({ ...parts, probe: fixture.probe }, fixture.request(), fixture.reporter)).not.toHaveProperty(
      "ready_by",
    );
    const { status } = fixture;
    fixture.status = (lease) => {
      const state = status.call(fixture, lease);
      return state && { ...state, services: state.services.map((each) => ({ ...each, available: 0 })) };
    };
    const late = runDeploy(parts, fixture.request({ timeoutMs: 60_000 }), fixture.reporter);
    await expect(late).rejects.toThrow("waited 60 s for service web (0 of 1 replicas ready)");
  });

  test("again is the same deployment, --new is another one", async () => {
    open();
    const first = await fixture.deploy();
    const again = await fixture.deploy();
    expect(again.dseq).toBe(first.dseq);
    expect(fixture.notes.join("")).toContain("exists already");
    expect([...fixture.manifests.values()].map((sent) => sent.length)).toEqual([1]);
    const second = await fixture.deploy({ fresh: true });
    expect(second.dseq).not.toBe(first.dseq);
    expect(await fixture.active()).toHaveLength(2);
  });

  test("groups are leased in one transaction, each at its best price", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9.5", delay: 1 } });
    fixture.write({ groups: ["east", "west"] });
    const { leases } = await fixture.deploy();
    const { address } = fixture.key("p2");
    expect(leases.map(({ gseq, provider, price }) => [gseq, provider, price.amount])).toEqual([
      [1, address, "9.5"],
      [2, address, "9.5"],
    ]);
  });

  test("the cheaper bid wins when it comes within the window, and everybody's bid ends the wait", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "5", delay: 2 } });
    const started = fixture.chain.height;
    const { leases } = await fixture.deploy();
    expect(leases[0]?.provider).toBe(fixture.key("p2").address);
    // The order, two blocks of bids, the lease.
    expect(fixture.chain.height - started).toBe(4n);
  });

  test("a bid that comes too late does not count", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "5", delay: 5 } });
    const { leases } = await fixture.deploy({ bidWindow: 2n });
    expect(leases[0]?.provider).toBe(fixture.key("p1").address);
  });

  test("a named provider is waited for and taken at once", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 6 } });
    const { address } = fixture.key("p2");
    const { leases } = await fixture.deploy({ policy: { choice: { kind: "provider", address } } });
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
    const { leases } = await fixture.deploy({ policy: { choice: { kind: "ask" } }, questions: { choose } });
    expect(asked).toEqual(["anywhere 1", "anywhere 10"]);
    expect(leases[0]?.price.amount).toBe("10");
  });

  test("a provider at which another tenant has the host name gets no lease", async () => {
    open({ p1: { price: "1", delay: 1, taken: "www.example.org" }, p2: { price: "10", delay: 1 } });
    fixture.write({ host: "www.example.org" });
    const { leases } = await fixture.deploy();
    expect(leases.map(({ provider }) => provider)).toEqual([fixture.key("p2").address]);
    expect(fixture.notes.join("")).toMatch(/gets no lease: "www.example.org": hostname not available here/);
  });

  test("no lease is made when no bidder can have the host name, and the name and the remedy are shown", async () => {
    open({ p1: { price: "1", delay: 1, taken: "www.example.org" } });
    fixture.write({ host: "www.example.org" });
    const refused = fixture.deploy();
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining('group anywhere: "www.example.org": hostname not available here'),
      hint: expect.stringMatching(
        /^use another host name; then svc deploy .* tries again, svc deploy close --dseq \d+/,
      ),
    });
    const [dseq = 0n] = await fixture.active();
    expect(await fixture.tenantMarket().leases(dseq)).toEqual([]);
  });

  test("nothing is sent when the user does not confirm", async () => {
    open();
    const questions = { confirm: async () => false };
    await expect(fixture.deploy({ questions })).rejects.toThrow("nothing was sent: cancelled");
    expect(await fixture.all()).toEqual([]);
  });

  test("a bid that is withdrawn meanwhile is replaced by the next one", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 1 } });
    const choose = async (_: string, offers: readonly { readonly bid: { readonly id: LeaseKey } }[]) => {
      const [first] = offers;
      if (first === undefined) throw new Error("nothing to choose from");
      if (first.bid.id.provider === fixture.key("p1").address) fixture.market.closeBid(fixture.key("p1"), first.bid.id);
      return first.bid as never;
    };
    const { leases } = await fixture.deploy({ policy: { choice: { kind: "ask" } }, questions: { choose } });
    expect(leases[0]?.provider).toBe(fixture.key("p2").address);
    expect(fixture.notes.join("")).toContain("a chosen bid is gone");
  });

  test("the deposit covers the first blocks at the highest price", async () => {
    open();
    fixture.write({ price: 90_000 });
    await fixture.deploy();
    expect(fixture.steps[1]).toContain("deposit 9000000utoken");
  });
});

describe("what can go wrong", () => {
  test("nobody bids: every provider's reason, and the remedy", async () => {
    const refusal = "our price 12utoken per block is above the order's 10utoken";
    const remedy = "raise the amount under pricing";
    open({ p1: { price: "12", refusal, remedy }, p2: { price: "1" } });
    await expect(fixture.deploy({ timeoutMs: 60_000 })).rejects.toMatchObject({
      codespace: "deploy",
      code: 1,
      message: "waited 60 s, nobody has bid: no bid to accept",
      hint: expect.stringContaining("svc deploy close --dseq"),
    });
    const told = fixture.notes.filter((note) => note.includes("nobody has bid"));
    expect(told).toHaveLength(1);
    const [order] = fixture.orders();
    expect(fixture.told.filter(({ kind }) => kind === "refusals")).toEqual([
      {
        kind: "refusals",
        orders: [expect.objectContaining({ owner: fixture.tenant, dseq: order?.orderId?.dseq })],
        refusals: expect.arrayContaining([
          { provider: fixture.key("p1").address, reason: refusal, remedy },
          { provider: fixture.key("p2").address, reason: "it has not decided about the order yet" },
        ]),
      },
    ]);
    expect(fixture.waits).toContainEqual(expect.objectContaining({ for: "bids", height: expect.any(BigInt) }));
    expect(told[0]).toContain(`${fixture.key("p1").address} (provider.test:8443): ${refusal}\n    -> raise the amount`);
    expect(told[0]).toContain("it has not decided about the order yet");
  });

  test("every provider refuses for good: it ends at once, with their reasons", async () => {
    const refusal = "our price 12utoken per block is above the order's 10utoken";
    open({ p1: { price: "12", refusal, isFinal: true }, p2: { price: "1", refusal: "no room", isFinal: true } });
    const begun = fixture.clock.now();
    await expect(fixture.deploy({ timeoutMs: 600_000 })).rejects.toMatchObject({
      message: expect.stringMatching(/^every provider refuses order\/\S+ for good: no bid to accept$/),
      hint: expect.stringContaining("svc deploy close --dseq"),
    });
    expect(fixture.clock.now() - begun).toBeLessThanOrEqual(2 * BLOCK_MS);
    const [told] = fixture.notes.filter((note) => note.includes("nobody has bid"));
    expect(told).toContain(refusal);
    expect(told).toContain("no room");
    expect(await fixture.active()).toHaveLength(1);
  });

  test("one who may bid later, and one who was not chosen, make a difference", async () => {
    open({ p1: { price: "1", refusal: "no", isFinal: true }, p2: { price: "1", refusal: "no room now" } });
    await expect(fixture.deploy({ timeoutMs: 60_000 })).rejects.toThrow("waited 60 s, nobody has bid");
    const address = fixture.key("p1").address;
    const policy: BidPolicy = { choice: { kind: "provider", address } };
    await expect(fixture.deploy({ policy, timeoutMs: 60_000 })).rejects.toThrow("refuses");
  });

  test("of two groups, the one that nobody wants is named", async () => {
    open({ p1: { price: "1", refusal: "no", isFinal: true } });
    fixture.write({ groups: ["east", "west"] });
    await expect(fixture.deploy({ timeoutMs: 60_000 })).rejects.toThrow(/refuses order\/\S+\/1\/1 for good/);
  });

  test("the money has to cover the deposit and the fees", async () => {
    open();
    const balance = fixture.chain.balance(fixture.tenant);
    const deposit = { denom: "utoken", amount: balance - 9999n };
    fixture.fees = [{ denom: "utoken", amount: 5000n }];
    await expect(fixture.deploy({ deposit })).rejects.toMatchObject({
      message:
        `${fixture.tenant} has ${balance}utoken, the deposit is ${balance - 9999n}utoken ` +
        "and the fees of order and lease are 10000utoken: not enough funds",
    });
    expect(await fixture.all()).toEqual([]);
    fixture.fees = [{ denom: "stake", amount: 1n }];
    await expect(fixture.deploy()).rejects.toThrow(`${fixture.tenant} has 0stake`);
  });

  test("a node that is away for a while is waited for", async () => {
    open();
    const parts = fixture.parts();
    let failures = 3;
    const openBids: typeof parts.market.openBids = (dseq) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(clientErrors.unreachable("node")) : parts.market.openBids(dseq);
    };
    const market = { ...fixture.tenantMarket(), openBids };
    const result = await runDeploy({ ...parts, market }, fixture.request(), fixture.reporter);
    expect(result.leases).toHaveLength(1);
    expect(failures).toBeLessThan(0);
  });

  test("a chosen bid that became dearer meanwhile is not accepted", async () => {
    open();
    const provider = fixture.key("p1");
    const market = fixture.tenantMarket();
    let isFirst = true;
    const send: typeof market.send = async (messages) => {
      const [order] = fixture.orders();
      const isLease = messages.some(({ typeUrl }) => typeUrl.endsWith("MsgCreateLease"));
      if (isLease && isFirst && order?.orderId !== undefined) {
        isFirst = false;
        fixture.market.closeBid(provider, order.orderId);
        fixture.market.bid(provider, order.orderId, "20");
      }
      const sent = fixture.chain.send(messages, { from: fixture.key("alice") });
      if (sent.code === marketErrors.priceRose.code) throw marketErrors.priceRose(sent.log);
      return { hash: "AB", height: sent.height };
    };
    const { leases } = await runDeploy(
      { ...fixture.parts(), market: { ...market, send } },
      fixture.request(),
      fixture.reporter,
    );
    expect(fixture.notes.join("")).toContain("bid price above what its owner accepts");
    expect(fixture.notes.join("")).toContain("choosing again");
    expect(leases).toMatchObject([{ price: { amount: "20" } }]);
  });

  test("no provider at all", async () => {
    open({});
    await expect(fixture.deploy({ timeoutMs: 30_000 })).rejects.toThrow("no bid to accept");
    expect(fixture.notes.join("")).toContain("no provider is registered");
  });

  test("all bids are above the limit", async () => {
    open();
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    await expect(fixture.deploy({ policy, timeoutMs: 600_000 })).rejects.toMatchObject({
      message:
        "there is one bid, the cheapest at 10utoken per block, above --max-price 9.5utoken, and nobody else bids: " +
        "no bid to accept",
      hint: expect.stringContaining("with a higher --max-price"),
    });
    expect(fixture.clock.now()).toBeLessThan(60_000);
  });

  test("a bid above the limit is not the last word while others may bid", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9", delay: 6 } });
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    const { leases } = await fixture.deploy({ policy });
    expect(leases[0]?.provider).toBe(fixture.key("p2").address);
  });

  test("a bid above the limit is the last word when the others refuse for good", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9", refusal: "no gpu", isFinal: true } });
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    await expect(fixture.deploy({ policy, timeoutMs: 600_000 })).rejects.toThrow("and nobody else bids");
    expect(fixture.clock.now()).toBeLessThan(60_000);
  });

  test("a bidder whose gateway does not answer gets no lease", async () => {
    open({ p1: { price: "5", delay: 1, away: "connection refused" }, p2: { price: "10", delay: 1 } });
    const { leases } = await fixture.deploy();
    expect(leases.map(({ provider }) => provider)).toEqual([fixture.key("p2").address]);
    expect(fixture.notes.join("")).toContain(
      `${fixture.key("p1").address} (provider.test:8443) gets no lease: connection refused\n`,
    );
  });

  test("the only bidder's gateway is asked again while its provider restarts", async () => {
    open({ p1: { price: "5", delay: 1, away: "connection refused", awayTimes: 10 } });
    const { leases } = await fixture.deploy();
    expect(leases.map(({ provider }) => provider)).toEqual([fixture.key("p1").address]);
    expect(fixture.notes.join("")).not.toContain("gets no lease");
  });

  test("where no bidder's gateway answers for 30 seconds, no lease is paid for", async () => {
    open({ p1: { price: "5", delay: 1, away: "the server is not the provider" } });
    const [dseq] = [fixture.chain.height];
    await expect(fixture.deploy()).rejects.toMatchObject({
      message: "group anywhere: no bidder's gateway answers: no bid to accept",
      hint: expect.stringContaining(`svc deploy close --dseq ${dseq}`),
    });
    expect(await fixture.tenantMarket().leases((await fixture.active())[0] ?? 0n)).toEqual([]);
    expect(fixture.reaches).toBe(16);
    expect(fixture.notes.filter((note) => note.includes("gets no lease"))).toHaveLength(1);
  });

  test("after a file without bids was changed, its old order is closed with the new one", async () => {
    open({ p1: { price: "10" } });
    await expect(fixture.deploy({ timeoutMs: 30_000 })).rejects.toThrow("nobody has bid");
    const [old] = await fixture.active();
    fixture.write({ price: 2000 });
    fixture.plans.set("p1", { price: "10", delay: 1 });
    const result = await fixture.deploy();
    expect(await fixture.active()).toEqual([BigInt(result.dseq)]);
    expect(fixture.notes.join("")).toContain(`deployment ${old}, made from an earlier version of the file, is closed`);
  });

  test("a file that changed under a running deployment is not deployed twice", async () => {
    open();
    const { dseq } = await fixture.deploy();
    fixture.write({ env: "A=2" });
    await expect(fixture.deploy()).rejects.toMatchObject({
      message: `deployment ${dseq} of ${fixture.file} is active: the deployment was made from another version of the file`,
      hint: expect.stringContaining(`svc deploy update ${fixture.file} --dseq ${dseq}`),
    });
    expect(await fixture.active()).toHaveLength(1);
  });

  test("a deposit that the chain or every lease would refuse is reported before anything is sent", async () => {
    open();
    const small = { denom: "utoken", amount: 4_999_999n };
    await expect(fixture.deploy({ deposit: small })).rejects.toMatchObject({
      message:
        "--deposit 4999999utoken is less than 5000000utoken: the chain accepts no less for a deployment: " +
        "the deposit is too small",
      hint: "write --deposit 5000000utoken or leave it out",
    });
    fixture.write({ price: 90_000 });
    const short = { denom: "utoken", amount: 8_999_999n };
    await expect(fixture.deploy({ deposit: short })).rejects.toMatchObject({
      message:
        "--deposit 8999999utoken is less than 9000000utoken: a lease needs funds for 100 blocks at its start, " +
        "at most 90000utoken each: the deposit is too small",
      hint: expect.stringContaining("or lower the amounts under pricing in the file"),
    });
    expect(await fixture.all()).toEqual([]);
    await fixture.deploy({ deposit: { denom: "utoken", amount: 9_000_000n } });
  });

  test("what this chain's own limits refuse is reported before anything is sent, with its line", async () => {
    open();
    const parts = fixture.parts();
    const terms = async () => {
      const found = await fixture.tenantMarket().terms();
      return { ...found, limits: { ...found.limits, unitCpuMax: 50n } };
    };
    const market = { ...fixture.tenantMarket(), terms };
    await expect(runDeploy({ ...parts, market }, fixture.request(), fixture.reporter)).rejects.toMatchObject({
      message: expect.stringMatching(
        /web.yaml:6:\d+: profiles.compute.small.resources.cpu.units: "0.1" is out of range/,
      ),
      hint: "write 0.01 to 0.05",
    });
    expect(await fixture.all()).toEqual([]);
  });

  test("too little money is reported before anything is sent", async () => {
    open();
    const deposit = { denom: "utoken", amount: 10n ** 15n };
    await expect(fixture.deploy({ deposit })).rejects.toThrow(
      "the deposit is 1000000000000000utoken: not enough funds",
    );
    expect(await fixture.all()).toEqual([]);
  });

  test.each([
    [{ deposit: { denom: "TOKEN", amount: 5n } }, "--deposit is in TOKEN, the deployment is paid in utoken"],
    [
      { policy: { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("1stake") } as const },
      "--max-price is in stake, the deployment is paid in utoken",
    ],
  ])("money of another denomination is refused before anything is sent: %#", async (change, text) => {
    open();
    await expect(fixture.deploy(change)).rejects.toThrow(text);
    expect(await fixture.all()).toEqual([]);
  });

  test("a manifest that the provider refuses", async () => {
    open();
    fixture.outcome = { kind: "refused", reason: "the image is not allowed here" };
    await expect(fixture.deploy()).rejects.toMatchObject({
      message: expect.stringContaining("the image is not allowed here: a provider did not accept the manifest"),
      hint: expect.stringContaining(`change ${fixture.file} and send it with svc deploy update`),
    });
    fixture.outcome = { kind: "taken" };
    await fixture.deploy();
    expect(await fixture.all()).toHaveLength(1);
  });

  test("a manifest that the provider refuses, with what the provider says to do about it", async () => {
    open();
    fixture.outcome = { kind: "refused", reason: "not your host name", remedy: 'add the DNS record a TXT "b"' };
    await expect(fixture.deploy()).rejects.toMatchObject({
      message: expect.stringContaining("not your host name: a provider did not accept the manifest"),
      hint: expect.stringMatching(/^add the DNS record a TXT "b"; then svc deploy .+ sends the manifest again, and /),
    });
    const active = await fixture.active();
    fixture.outcome = { kind: "taken" };
    expect([BigInt((await fixture.deploy()).dseq)]).toEqual(active);
  });

  test("an address that never answers, with what to do about it", async () => {
    open();
    const parts = fixture.parts();
    const probe = { ...fixture.probe, http: () => Promise.reject(new Error("getaddrinfo ENOTFOUND web.example")) };
    await expect(
      runDeploy({ ...parts, probe }, fixture.request({ timeoutMs: 60_000 }), fixture.reporter),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/^waited 60 s for .+ to answer \(getaddrinfo ENOTFOUND web.example\)/),
      hint: expect.stringMatching(/^the containers run, .+ ask the provider about its DNS .+ svc deploy close --dseq /),
    });
  });

  test("a host name that the provider's gateway refuses after the services run, in the provider's words", async () => {
    open();
    const parts = fixture.parts();
    let tries = 0;
    const http = () => {
      tries += 1;
      return Promise.reject(new Error("getaddrinfo ENOTFOUND web.example"));
    };
    const status = fixture.status.bind(fixture);
    const error = "web.example does not answer: the gateway refuses it";
    fixture.status = (id) => {
      const state = status(id);
      if (state === undefined || tries === 0) return state;
      return { ...state, services: state.services.map((service) => ({ ...service, error })) };
    };
    const deploy = runDeploy(
      { ...parts, probe: { ...fixture.probe, http } },
      fixture.request({ timeoutMs: 60_000 }),
      fixture.reporter,
    );
    await expect(deploy).rejects.toMatchObject({
      message: expect.stringMatching(/to answer \(.*ENOTFOUND web.example\); service web: .* the gateway refuses it/),
    });
    expect(fixture.notes.filter((text) => text.includes(error))).toEqual([`service web: ${error}\n`]);
  });

  test("a host name that leads to an older deployment is reported, with the command that moves it", async () => {
    const host = "www.example.com";
    const { file } = open();
    writeFileSync(file, readFileSync(file, "utf8").replace("as: 8080", `as: 80, accept: [${host}]`));
    const status = fixture.status.bind(fixture);
    fixture.status = (id) => {
      const state = status(id);
      return state === undefined ? undefined : { ...state, withheld: [host, "other.example.com"] };
    };
    const { dseq } = await fixture.deploy();
    expect(fixture.notes.filter((text) => text.includes("older deployment"))).toEqual([
      `${host} belongs to an older deployment of yours: svc provider migrate-hostnames ${host} --dseq ${dseq} migrates it\n`,
    ]);
  });

  test("a leased address that is another deployment's, or leads nowhere yet, is reported", async () => {
    open();
    const status = fixture.status.bind(fixture);
    fixture.status = (id) => {
      const state = status(id);
      return state === undefined
        ? undefined
        : { ...state, withheldEndpoints: ["game"], unassigned: ["203.0.113.2 (voice)"] };
    };
    const { dseq } = await fixture.deploy();
    expect(fixture.notes.filter((text) => text.includes("leased address"))).toEqual([
      `leased address game belongs to an older deployment of yours: svc provider migrate-endpoints game --dseq ${dseq} migrates it\n`,
      "leased address does not route here yet: 203.0.113.2 (voice)\n",
    ]);
  });

  test("a lease that the provider ends while the services start", async () => {
    open();
    fixture.status = () => undefined;
    const running = fixture.deploy();
    const closing = (async () => {
      while (fixture.manifests.size === 0) await sleep(fixture.clock, 1000, never);
      const [dseq = 0n] = await fixture.active();
      fixture.market.closeBid(fixture.key("p1"), { owner: fixture.tenant, dseq, gseq: 1, oseq: 1 }, 10_000);
    })();
    await expect(running).rejects.toThrow('gave the reason "unstable": the lease has ended');
    await closing;
    Reflect.deleteProperty(fixture, "status");
    // The group is paused now: the next run opens a new order.
    const again = await fixture.deploy();
    expect(again.leases[0]?.oseq).toBe(2);
    expect(await fixture.all()).toHaveLength(1);
  });

  test("another command of the tenant publishes the certificate first: the order goes without it", async () => {
    open();
    const publish = fixture.publishCertificate.bind(fixture);
    fixture.publishCertificate = async () => {
      const message = await publish();
      if (message !== undefined) await fixture.tenantMarket().send([message]);
      return message;
    };
    await fixture.deploy();
    expect(await fixture.all()).toHaveLength(1);
  });

  test("an order that the chain refuses is sent once, and leaves no record", async () => {
    open();
    const market = fixture.tenantMarket();
    let sent = 0;
    const send: typeof market.send = async () => {
      sent += 1;
      throw deploymentErrors.invalidDeposit("refused");
    };
    const parts = { ...fixture.parts(), market: { ...market, send } };
    const running = runDeploy(parts, fixture.request(), fixture.reporter);
    await expect(running).rejects.toThrow("refused");
    expect(sent).toBe(1);
    expect(new FileJournal(fixture.home).entries(fixture.tenant, market.chainId)).toHaveLength(0);
  });

  test("an interruption before the order leaves neither an order nor a record", async () => {
    open({ p1: { price: "10" } });
    const stop = new AbortController();
    const publish = fixture.publishCertificate.bind(fixture);
    fixture.publishCertificate = async () => {
      stop.abort();
      return publish();
    };
    const running = fixture.deploy({ signal: stop.signal });
    await expect(running).rejects.toMatchObject({ codespace: "deploy", code: deployErrors.interrupted.code });
    expect(await fixture.all()).toHaveLength(0);
    expect(new FileJournal(fixture.home).entries(fixture.tenant, fixture.tenantMarket().chainId)).toHaveLength(0);
  });

  test("an interruption says so and the next run goes on", async () => {
    open({ p1: { price: "10" } });
    const stop = new AbortController();
    const running = fixture.deploy({ signal: stop.signal });
    const stopping = sleep(fixture.clock, 20_000, never).then(() => stop.abort());
    await expect(running).rejects.toMatchObject({ codespace: "deploy", code: deployErrors.interrupted.code });
    await stopping;
    fixture.plans.set("p1", { price: "10", delay: 1 });
    await fixture.deploy();
    expect(await fixture.all()).toHaveLength(1);
    expect(fixture.notes.join("")).toContain("was started before and is continued");
    expect(fixture.told).toContainEqual({ kind: "continued", dseq: expect.any(BigInt) });
  });
});
