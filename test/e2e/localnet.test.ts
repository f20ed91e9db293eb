import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { connect as http2Connect } from "node:http2";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runSvcHere, svcHereOk } from "../cli/run.ts";
import { spawnSync } from "../support/bounded.ts";
import { describeWithBrowser, openPage, startBrowser } from "../support/chromium.ts";
import { ConsolePage } from "../support/console/page.ts";
import { ConsoleTerminal } from "../support/console/place.ts";
import { describeWithEngine, startEngine } from "../support/containers.ts";
import { Fixture, ROOT, runSvc, svcOk, waitFor } from "../support/index.ts";

const PORT_OFFSET = 2300;
const STAKE = 5_000_000n;
const FEE = 5000n;

interface Result {
  readonly code: number;
  readonly height: string;
  readonly txhash: string;
  readonly logs: readonly { readonly events: readonly { readonly type: string }[] }[];
}

/** The documented commands, on a new localnet: its home is all that the commands know. */
describeWithEngine("the documented commands on a fresh localnet", () => {
  const fixture = new Fixture();
  const home = join(fixture.folder, "localnet");
  let rest = "";
  let net = "";
  let ca = "";
  let validator = "";
  let second = "";
  let alice = "";
  let bob = "";

  beforeAll(async () => {
    const engine = await startEngine(fixture);
    const flags = ["-o", "json", "--home", home, "--cluster-engine", engine.socket, "--block-interval", "500ms"];
    const localnet = await fixture.start("localnet", ["localnet", "--port-offset", String(PORT_OFFSET), ...flags]);
    fixture.defer(() => localnet.stop());
    const ready = JSON.parse(await localnet.line(/"type":"ready"/, 120_000));
    rest = ready.rest;
    net = ready.net_url;
    ca = ready.ca;
    [alice = "", bob = ""] = await Promise.all(["alice", "bob"].map(address));
  });
  afterAll(() => fixture.close());

  const type = (...words: string[]): Promise<string> => svcOk(words, { home });
  const typeHere = (...words: string[]): Promise<string> => svcHereOk(words, { home });
  const ask = async (...words: string[]) => JSON.parse(await typeHere("query", ...words, "-o", "json"));

  async function address(name: string): Promise<string> {
    return (await typeHere("keys", "show", name, "-a")).trim();
  }

  /** The result of a transaction command, which is in a block when it comes. */
  async function send(...words: string[]): Promise<Result> {
    const flags = ["--fees", `${FEE}utoken`, "--broadcast-mode", "block", "-y", "-o", "json"];
    const result: Result = JSON.parse(await type("tx", ...words, ...flags));
    expect(result, JSON.stringify(result)).toMatchObject({ code: 0 });
    return result;
  }

  async function balance(of: string, height?: number): Promise<bigint> {
    const flags = height === undefined ? [] : ["--height", String(height)];
    const { balances } = await ask("bank", "balances", of, ...flags);
    return BigInt(balances.find(({ denom }: { denom: string }) => denom === "utoken").amount);
  }

  function eventTypes({ logs }: Result): string[] {
    return logs.flatMap(({ events }) => events.map((event) => event.type));
  }

  async function bonded(at: string): Promise<bigint> {
    const { delegation_responses: rows } = await ask("staking", "delegations", alice);
    const row = rows.find(({ delegation }: { delegation: { validator_address: string } }) => {
      return delegation.validator_address === at;
    });
    return BigInt(row?.balance.amount ?? 0);
  }

  it("query bank balances --verify require, from the block of the home's own node; other homes take it from the network's files", async () => {
    const query = ["query", "bank", "balances", alice, "--denom", "utoken", "--verify", "require"];
    const proven = await runSvc(query, { home });
    expect(proven).toMatchObject({ code: 0, stderr: expect.stringMatching(/^verified at height \d+\n$/) });
    const words = (await (await fetch(`${net}/trusted-block.txt`)).text()).trim();
    expect(words).toMatch(/^\d+ [0-9A-F]{64}$/);
    const other = fixture.tempHome("other");
    await svcOk(["config", "trust", ...words.split(" "), "--home", other]);
    const rpc = (await (await fetch(`${net}/rpc-nodes.txt`)).text()).trim();
    const there = await runSvc([...query, "--node", rpc], { home: other });
    expect(there).toMatchObject({ code: 0, stdout: proven.stdout });
  });

  it("wallets learn the chain's addresses from the network's files", async () => {
    const info = JSON.parse(await (await fetch(`${net}/chain.json`)).text());
    expect(info).toMatchObject({ chainId: "svc-local-1", rest });
    expect((await fetch(`${info.rpc}/status`)).status).toBe(200);
  });

  it("tx staking delegate, to the validator that is there", async () => {
    const { validators } = await ask("staking", "validators");
    expect(validators).toMatchObject([{ status: "BOND_STATUS_BONDED", jailed: false }]);
    validator = validators[0].operator_address;
    const before = await balance(alice);
    const result = await send("staking", "delegate", validator, `${STAKE}utoken`, "--from", "alice");
    expect(eventTypes(result)).toContain("delegate");
    expect(await bonded(validator)).toBe(STAKE);
    expect(await balance(alice)).toBe(before - STAKE - FEE);
  });

  it("query distribution rewards, of all validators and of one", async () => {
    const { total } = await waitFor(async () => {
      const rewards = await ask("distribution", "rewards", alice);
      return rewards.total.length > 0 && rewards;
    }, "rewards of a delegation");
    expect(total).toMatchObject([{ denom: "utoken" }]);
    const one = await ask("distribution", "rewards", alice, validator);
    expect(one).toMatchObject([{ denom: "utoken" }]);
    expect(Number(one[0].amount)).toBeGreaterThan(0);
  });

  it("tx distribution withdraw-rewards, with --commission of the operator only", async () => {
    const rewards = await send("distribution", "withdraw-rewards", validator, "--from", "alice");
    expect(eventTypes(rewards)).toContain("withdraw_rewards");
    expect(eventTypes(rewards)).not.toContain("withdraw_commission");
    const own = ["distribution", "withdraw-rewards", validator, "--commission", "--from"];
    expect(eventTypes(await send(...own, "validator"))).toEqual(
      expect.arrayContaining(["withdraw_rewards", "withdraw_commission"]),
    );
    const foreign = await runSvc(["tx", ...own, "alice", "-y"], { home });
    expect(foreign.code).not.toBe(0);
    expect(foreign.stderr).toContain("operates the validator and must sign");
  });

  it("tx staking redelegate, to a second validator", async () => {
    const key = { "@type": "/sdk.crypto.ed25519.PubKey", key: newValidatorKey() };
    const words = ["--amount", "10000000utoken", "--moniker", "second", "--pubkey", JSON.stringify(key)];
    await send("staking", "create-validator", ...words, "--from", "bob");
    const { validators } = await ask("staking", "validators");
    second = validators
      .map(({ operator_address: each }: { operator_address: string }) => each)
      .find((each: string) => each !== validator);
    const moved = ["staking", "redelegate", validator, second, "2000000utoken", "--from", "alice", "--gas", "400000"];
    expect(eventTypes(await send(...moved))).toContain("redelegate");
    expect([await bonded(validator), await bonded(second)]).toEqual([3_000_000n, 2_000_000n]);
  });

  it("tx staking unbond", async () => {
    const unbond = ["staking", "unbond", validator, "1000000utoken", "--from", "alice", "--gas", "400000"];
    expect(eventTypes(await send(...unbond))).toContain("unbond");
    expect(await bonded(validator)).toBe(2_000_000n);
    const { unbonding_responses: rows } = await ask("staking", "unbonding-delegations", alice);
    expect(rows).toMatchObject([{ validator_address: validator, entries: [{ balance: "1000000" }] }]);
  });

  it.each(["BROADCAST_MODE_BLOCK", "BROADCAST_MODE_SYNC", "BROADCAST_MODE_ASYNC"])(
    "POST /sdk/tx/v1beta1/txs takes what tx encode prints, with %s",
    async (mode) => {
      const before = await balance(bob);
      const [unsigned, signed] = ["unsigned", "signed"].map((name) => join(fixture.folder, `${name}-${mode}.json`));
      if (unsigned === undefined || signed === undefined) throw new Error("two files");
      const transfer = ["tx", "bank", "send", alice, bob, "7utoken", "--fees", `${FEE}utoken`, "--generate-only"];
      writeFileSync(unsigned, await typeHere(...transfer));
      writeFileSync(signed, await typeHere("tx", "sign", unsigned, "--from", "alice"));
      const response = await fetch(`${rest}/sdk/tx/v1beta1/txs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ tx_bytes: (await typeHere("tx", "encode", signed)).trim(), mode }),
      });
      expect(response.status).toBe(200);
      const { tx_response: answer } = (await response.json()) as { tx_response: Result };
      expect(answer.code).toBe(0);
      expect(answer.height !== "0").toBe(mode === "BROADCAST_MODE_BLOCK");
      await waitFor(
        async () => (await runSvcHere(["query", "tx", answer.txhash], { home })).code === 0,
        "the transaction",
      );
      expect(await balance(bob)).toBe(before + 7n);
    },
  );

  it("query bank balances --height, some blocks back", async () => {
    const before = await balance(bob);
    const { height } = await send("bank", "send", "alice", bob, "11utoken");
    const at = Number(height);
    await waitFor(
      async () => (await runSvcHere(["query", "block", String(at + 5)], { home })).code === 0,
      "five blocks",
    );
    expect(await balance(bob)).toBe(before + 11n);
    expect([await balance(bob, at - 1), await balance(bob, at)]).toEqual([before, before + 11n]);
    const ahead = await runSvcHere(["query", "bank", "balances", bob, "--height", "99999999"], { home });
    expect(ahead.code).not.toBe(0);
    expect(ahead.stderr).toContain("height in the future");
  });

  it("host names of a lease answer over TLS and HTTP/2, for who trusts the certificate of the localnet", async () => {
    const file = join(fixture.folder, "web.yaml");
    copyFileSync(join(ROOT, "examples/web.yaml"), file);
    await type("deploy", file, "--from", "alice", "--bid", "cheapest", "--fees", `${FEE}utoken`, "-y");
    const { deployments } = JSON.parse(await type("deploy", "ps", "--from", "alice", "-o", "json"));
    const uris: string[] = deployments.flatMap((deployment: { uris: string[] }) => deployment.uris);
    const url = new URL(uris.find((uri) => uri.startsWith("https://")) ?? "");
    const socket = connect({
      ...{ host: "127.0.0.1", port: Number(url.port), servername: url.hostname },
      ...{ ca: readFileSync(ca), ALPNProtocols: ["h2"] },
    });
    const session = http2Connect(url.origin, { createConnection: () => socket });
    fixture.defer(async () => session.destroy());
    const [headers] = await once(session.request({ ":path": "/" }), "response");
    expect(headers[":status"]).toBe(200);
    const to = ["--resolve", `${url.hostname}:${url.port}:127.0.0.1`, "--cacert", ca];
    const curl = spawnSync("curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}", ...to, url.href], {
      encoding: "utf8",
    });
    // A machine without it has asked with another stock client above.
    if (curl.error === undefined) expect(curl).toMatchObject({ stdout: "200", stderr: "" });
    const restarted = JSON.parse(await type("deploy", "restart", "web", "--from", "alice", "-o", "json"));
    expect(restarted).toEqual({ service: "web", restarting: true });
    const sent = JSON.parse(await type("faucet", bob, "1utoken", "-o", "json", "--port-offset", String(PORT_OFFSET)));
    expect(sent).toMatchObject({ amount: [{ denom: "utoken", amount: "1" }] });
  });

  describeWithBrowser("a console for one of its keys", () => {
    it("takes a file to a page of a container, shows its lines, runs a shell, changes it and closes it", async () => {
      const out = join(fixture.tempHome("console"), "console.json");
      const user = new ConsoleTerminal(["console", "--from", "bob", "--home", home, "-o", "json"], out);
      fixture.defer(() => user.kill());
      await user.ready();
      const browser = await startBrowser({ isWhole: true });
      fixture.defer(() => browser.close());
      const page = await browser.newPage();
      await openPage(page, user.link);
      const shown = new ConsolePage(page, new URL("/console/", user.link).href);
      await shown.open();
      const shows = (text: string) => expect.poll(() => shown.text()).toContain(text);
      // Other tests change the networks of this machine, and the browser drops its connections then: press again.
      const press = async (name: string, message: string, result: string): Promise<void> => {
        const button = page.getByRole("button", { name, exact: true });
        const agreed = user.agree();
        await waitFor(async () => {
          if ((await shown.text()).includes(result)) return true;
          if (await button.isEnabled({ timeout: 1_000 }).catch(() => false)) await button.click();
          return false;
        }, result);
        expect(await agreed).toContain(message);
      };

      await shown.visit("deploy");
      await shown.press("A web service");
      /** Adds a line to the file in the editor. */
      const add = async (line: string): Promise<void> => {
        await expect.poll(() => shown.file()).toContain("    expose:");
        await shown.write((await shown.file()).replace("    expose:", `    ${line}\n    expose:`));
      };
      await add('command: [sh, -c, "echo begun; exec httpd -f -p 80 -h /www"]');
      await shown.press("Deploy");
      expect(await user.agree()).toContain("MsgCreateDeployment");
      expect(await user.agree()).toContain("MsgCreateLease");
      await shows("Ready, says the provider");
      const service = page.getByRole("link", { name: /^http:/ });
      const answer = await browser.newPage();
      await openPage(answer, (await service.getAttribute("href")) ?? "");
      expect(await answer.textContent("body")).toContain("Hello from a container");
      await answer.close();

      const views = page.getByRole("navigation", { name: "Views of the deployment" });
      const view = (name: string) => views.getByRole("link", { name, exact: true }).click();
      await page.locator("main p a[href^='#/deployment/']").click();
      await view("Shell");
      const terminal = page.frameLocator("iframe").locator(".xterm-rows");
      await expect.poll(() => terminal.textContent()).toContain("#");
      await page.keyboard.type("ls /www\n");
      await expect.poll(() => terminal.textContent()).toContain("index.html");
      await view("Logs");
      await shows("begun");

      await view("Overview");
      await page.locator("summary", { hasText: /^Update$/ }).click();
      await add("env: [GREETING=hello]");
      await shows("+ ");
      await press("Sign and update", "MsgUpdateDeployment", "The services run");
      await page.locator("summary", { hasText: /^Close$/ }).click();
      await press("Close the deployment", "MsgCloseDeployment", "Closed in block");
      await shows("It is the amount shown, less these blocks.");
      expect(shown.faults).toEqual([]);
    });
  });
});

/** A key as a node would print it; no blocks are signed with it here. */
function newValidatorKey(): string {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return Buffer.from(x ?? "", "base64url").toString("base64");
}
