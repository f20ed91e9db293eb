import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliChain } from "../../../../test/cli/chain.ts";
import { loadSdlFile } from "../../../sdl/index.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../../../examples");
const WEB = join(EXAMPLES, "web.yaml");

const chain = await cliChain("tenant", "provider", "auditor");
const { tenant = "", provider = "", auditor = "" } = chain.addresses;
afterAll(() => chain.stop());

function providerFile(name: string, attributes: string): string {
  const path = join(chain.home, name);
  writeFileSync(path, `host: https://provider.example.com:8443\nattributes:\n${attributes}`);
  return path;
}

/** Creates a deployment; its number. */
async function order(file = WEB): Promise<string> {
  const argv = ["tx", "deployment", "create", file, "--from", "tenant", "-y", "-b", "block", "--fees", "5000utoken"];
  const { out, err } = await chain.run(argv);
  expect(JSON.parse(out).code).toBe(0);
  const dseq = /deployment sequence \(dseq\): (\d+)/.exec(err)?.[1];
  return dseq ?? "";
}

const PROVIDER_REASONS = ["unstable", "decommission", "unspecified", "manifest_timeout"];

beforeAll(async () => {
  const file = providerFile("provider.yaml", "- {key: host, value: acme}\n- {key: tier, value: 1}\n");
  await chain.tx("provider", "create", file, "--from", "provider");
  await chain.tx("cert", "create", "client", "--from", "tenant");
});

describe("tx provider", () => {
  test("the record is the file", async () => {
    expect(await chain.query("provider", "get", provider)).toMatchObject({
      owner: provider,
      host_uri: "https://provider.example.com:8443",
      attributes: [
        { key: "host", value: "acme" },
        { key: "tier", value: "1" },
      ],
      info: { email: "", website: "" },
    });
  });

  test("events name what was done", async () => {
    const file = providerFile("changed.yaml", "- {key: host, value: acme}\n- {key: tier, value: 2}\n");
    const { logs } = await chain.tx("provider", "update", file, "--from", "provider");
    const events: { type: string; attributes: { key: string; value: string }[] }[] = logs[0].events;
    const message = events.find(({ type }) => type === "message")?.attributes ?? [];
    expect(message).toContainEqual({ key: "action", value: "update-provider" });
    expect((await chain.query("provider", "get", provider)).attributes[1]).toEqual({ key: "tier", value: "2" });
  });
});

describe("tx deployment", () => {
  test("create chooses a free number, takes the least deposit and prints both", async () => {
    const first = await order();
    const second = await order();
    expect(BigInt(second)).toBeGreaterThan(BigInt(first));
    const found = await chain.query("deployment", "get", "--owner", tenant, "--dseq", first);
    expect(found).toMatchObject({
      deployment: { deployment_id: { owner: tenant, dseq: first }, state: "active" },
      escrow_account: { balance: { denom: "utoken", amount: "5000000" } },
    });
    expect(found.deployment.version).toBe(Buffer.from(loadSdlFile(WEB).hash).toString("base64"));
    expect(await chain.query("deployment", "get", `deployment/${tenant}/${first}`)).toEqual(found);
    expect(await chain.query("deployment", "group", "get", `${tenant}/${first}/1`)).toMatchObject({ state: "open" });
  });

  test("a number that was asked for and is in use is refused with the remedy", async () => {
    const dseq = await order();
    const argv = ["tx", "deployment", "create", WEB, "--from", "tenant", "--dseq", dseq, "-y", "-b", "block"];
    const { code, out, err } = await chain.run([...argv, "--fees", "5000utoken"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ codespace: "deployment", code: 3 });
    expect(err).toContain("choose another --dseq");
  });

  test("goes on from the height after a number that was chosen far above", async () => {
    const highest = (2n ** 64n - 1n).toString();
    const argv = ["tx", "deployment", "create", WEB, "--from", "tenant", "--dseq", highest, "-y", "-b", "block"];
    expect((await chain.run([...argv, "--fees", "5000utoken"])).code).toBe(0);
    expect(Number(await order())).toBeLessThan(1000);
  });

  test("deposits come from the owner or from anybody", async () => {
    const dseq = await order();
    await chain.tx("deployment", "deposit", "7utoken", "--dseq", dseq, "--from", "tenant");
    await chain.tx(
      "escrow",
      "deposit",
      "deployment",
      "1000003utoken",
      "--dseq",
      dseq,
      "--owner",
      tenant,
      "--from",
      "auditor",
    );
    const { escrow_account: account } = await chain.query("deployment", "get", `${tenant}/${dseq}`);
    expect(account.balance.amount).toBe("6000010");
    expect(account.deposits.map(({ depositor }: { depositor: string }) => depositor)).toContain(auditor);
  });

  test("update changes the manifest and keeps the groups", async () => {
    const dseq = await order();
    const changed = join(chain.home, "changed-web.yaml");
    const text = readFileSync(WEB, "utf8");
    writeFileSync(changed, text.replace("svc-sample:latest", "svc-sample:2"));
    await chain.tx("deployment", "update", changed, "--dseq", dseq, "--from", "tenant");
    const { deployment } = await chain.query("deployment", "get", `${tenant}/${dseq}`);
    expect(deployment.version).toBe(Buffer.from(loadSdlFile(changed).hash).toString("base64"));
    const other = join(EXAMPLES, "two-services.yaml");
    const refused = await chain.run(["tx", "deployment", "update", other, "--dseq", dseq, "--from", "tenant"]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain(`the file does not fit deployment ${dseq}`);
  });

  test("close returns the deposit and ends it", async () => {
    const dseq = await order();
    await chain.tx("deployment", "close", "--dseq", dseq, "--from", "tenant");
    const { deployment, escrow_account: account } = await chain.query("deployment", "get", `${tenant}/${dseq}`);
    expect([deployment.state, account.state]).toEqual(["closed", "closed"]);
    const active = await chain.query("deployment", "list", "--owner", tenant, "--dseq", dseq, "--state", "active");
    expect(active.deployments).toEqual([]);
  });

  test("without a certificate it is refused with the command that makes one", async () => {
    const { code, out, err } = await chain.run(["tx", "deployment", "create", WEB, "--from", "auditor", "-y"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(`account ${auditor} has no valid certificate on the chain`);
    expect(err).toContain("svc tx cert create client --from auditor");
  });

  test("at a terminal the certificate can be made in the same transaction", async () => {
    const argv = ["tx", "deployment", "create", WEB, "--from", "auditor", "-b", "block", "--fees", "5000utoken"];
    const { code, out } = await chain.run(argv, { input: "y\ny\n", isTTY: true });
    expect(code).toBe(0);
    expect(JSON.parse(out).logs).toHaveLength(2);
    const { certificates } = await chain.query("cert", "list", "--owner", auditor, "--state", "valid");
    expect(certificates).toHaveLength(1);
  });

  test("offline everything has to be given", async () => {
    const offline = ["--offline", "-a", "1", "-s", "1", "--chain-id", "x-1", "-y"];
    const create = ["tx", "deployment", "create", WEB, "--from", "tenant", ...offline];
    expect((await chain.run(create)).err).toContain("--deposit");
    expect((await chain.run([...create, "--deposit", "5utoken"])).err).toContain("--dseq");
    const { code, out } = await chain.run([...create, "--deposit", "5utoken", "--dseq", "9"]);
    expect(code).toBe(0);
    expect(JSON.parse(out).body.messages[0].id).toEqual({ owner: tenant, dseq: "9" });
  });
});

describe("tx market", () => {
  test("from order to lease and back", async () => {
    const dseq = await order();
    const id = `${tenant}/${dseq}/1/1`;
    await chain.tx("market", "bid", "create", `order/${id}`, "--price", "0.5utoken", "--from", "provider");
    const { bids } = await chain.query("market", "bid", "list", "--provider", provider, "--state", "open");
    expect(bids).toHaveLength(1);
    expect(bids[0]).toMatchObject({
      bid: { bid_id: { owner: tenant, dseq, gseq: 1, oseq: 1, provider }, price: { amount: "0.500000000000000000" } },
      escrow_account: { balance: { amount: "5000000" } },
    });
    await chain.tx("market", "lease", "create", "--dseq", dseq, "--provider", provider, "--from", "tenant");
    const lease = await chain.query("market", "lease", "get", `lease/${id}/${provider}`);
    expect(lease).toMatchObject({ lease: { state: "active" }, escrow_payment: { payment_id: `1/1/${provider}` } });
    const remaining = await chain.query("escrow", "blocks-remaining", "--owner", tenant, "--dseq", dseq);
    expect(remaining.blocks_remaining).toBeGreaterThan(9_000_000);
    expect(remaining.balance_remaining).toBeGreaterThan(4_900_000);
    expect(remaining.estimated_time_remaining).toMatch(/^\d+h\d+m\d+s$/);
    expect(remaining.estimated_end_time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    await chain.tx("market", "lease", "withdraw", "--owner", tenant, "--dseq", dseq, "--from", "provider");
    await chain.tx("market", "lease", "withdraw-all", "--from", "provider");
    await chain.tx("market", "lease", "close", "--dseq", dseq, "--provider", provider, "--reopen", "--from", "tenant");
    const { orders } = await chain.query(
      "market",
      "order",
      "list",
      "--owner",
      tenant,
      "--dseq",
      dseq,
      "--state",
      "open",
    );
    expect(orders[0].order_id.oseq).toBe(2);
    await chain.tx("deployment", "group", "pause", "--dseq", dseq, "--from", "tenant");
    await chain.tx("deployment", "group", "start", "--dseq", dseq, "--gseq", "1", "--from", "tenant");
    await chain.tx("deployment", "group", "close", "--dseq", dseq, "--owner", tenant, "--from", "tenant");
  });

  test("what has not ended has no reason, and every offered reason ends a bid", async () => {
    const help = await chain.run(["tx", "market", "bid", "close", "--help"]);
    expect(help.out.replace(/\s+/g, " ")).toContain(`(default: unspecified): ${PROVIDER_REASONS.join(", ")} `);
    for (const reason of PROVIDER_REASONS) {
      const dseq = await order();
      const ids = ["--owner", tenant, "--dseq", dseq];
      await chain.tx("market", "bid", "create", ...ids, "--price", "1utoken", "--from", "provider");
      const query = () => chain.query("market", "bid", "get", ...ids, "--provider", provider);
      expect((await query()).bid).toMatchObject({ state: "open", closed_on: "0", close_reason: "not_closed" });
      expect((await chain.run(["query", "market", "order", "get", ...ids])).out).toContain("close_reason: not_closed");
      await chain.tx("market", "bid", "close", ...ids, "--reason", reason, "--from", "provider");
      await expect(query()).rejects.toThrow("bid not found");
    }
  });

  test("a bid is taken back", async () => {
    const dseq = await order();
    const ids = ["--owner", tenant, "--dseq", dseq];
    await chain.tx(
      "market",
      "bid",
      "create",
      ...ids,
      "--price",
      "1utoken",
      "--deposit",
      "6000000utoken",
      "--from",
      "provider",
    );
    expect(
      (await chain.query("market", "bid", "get", ...ids, "--provider", provider)).escrow_account.balance.amount,
    ).toBe("6000000");
    await chain.tx("market", "bid", "close", ...ids, "--open-only", "--reason", "unstable", "--from", "provider");
    // The order stays open, and may get another bid of this provider.
    await expect(chain.query("market", "bid", "get", ...ids, "--provider", provider)).rejects.toThrow("bid not found");
    await chain.tx("market", "bid", "create", ...ids, "--price", "1utoken", "--from", "provider");
  });

  test.each([
    [
      "no price",
      ["bid", "create", "--owner", tenant, "--dseq", "1", "--from", "provider"],
      "required flag --price is not set",
    ],
    ["no owner", ["bid", "create", "--dseq", "1", "--price", "1utoken", "--from", "provider"], "required flag --owner"],
    [
      "no number",
      ["lease", "create", "--provider", provider, "--from", "tenant"],
      "required flag --dseq is not set (or SVC_DSEQ)",
    ],
    [
      "number 0",
      ["lease", "create", "--dseq", "0", "--provider", provider, "--from", "tenant"],
      "--dseq: 0 is not a valid number",
    ],
    [
      "a group that is not a number",
      ["lease", "create", "--dseq", "1", "--gseq", "x", "--provider", provider, "--from", "tenant"],
      '--gseq: "x" is not a whole number',
    ],
    [
      "a wrong provider",
      ["lease", "create", "--dseq", "1", "--provider", "x", "--from", "tenant"],
      "--provider: invalid Bech32 prefix",
    ],
    [
      "a wrong price",
      ["bid", "create", "--owner", tenant, "--dseq", "1", "--price", "1", "--from", "provider"],
      "--price: invalid price",
    ],
    [
      "a wrong id",
      ["bid", "create", "order/x", "--price", "1utoken", "--from", "provider"],
      "write order/<owner>/<dseq>/<gseq>/<oseq>",
    ],
    [
      "an id twice",
      ["bid", "create", `order/${tenant}/1/1/1`, "--dseq", "1", "--price", "1utoken", "--from", "provider"],
      "not both",
    ],
    [
      "an unknown reason",
      ["bid", "close", "--owner", tenant, "--dseq", "1", "--reason", "bored", "--from", "provider"],
      "--reason takes unstable, decommission, unspecified, manifest_timeout",
    ],
    ...["owner", "insufficient_funds", "order_expired", "lease_lost", "provider_deleted", "not_closed"].map(
      (reason): [string, string[], string] => [
        `${reason}, which is not a reason that a provider may give`,
        ["bid", "close", "--owner", tenant, "--dseq", "1", "--reason", reason, "--from", "provider"],
        `--reason takes unstable, decommission, unspecified, manifest_timeout, not "${reason}"`,
      ],
    ),
    [
      "somebody else's lease",
      ["lease", "create", `${provider}/1/1/1/${tenant}`, "--from", "tenant"],
      `the owner ${provider} must sign, not ${tenant}`,
    ],
  ])("%s", async (_, words, text) => {
    const { code, out, err } = await chain.run(["tx", "market", ...words, "-y"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(text);
  });
});

describe("tx audit", () => {
  test("signs given or current attributes, and takes them back", async () => {
    await chain.tx("audit", "attr", "create", provider, "region", "eu-west", "--from", "auditor");
    await chain.tx("audit", "attr", "create", provider, "--from", "auditor");
    const { providers } = await chain.query("audit", "get", provider, auditor);
    expect(providers[0].attributes.map(({ key }: { key: string }) => key)).toEqual(["host", "region", "tier"]);
    await chain.tx("audit", "attr", "delete", provider, "region", "--from", "auditor");
    const own = await chain.query("audit", "auditor", auditor);
    expect(own.providers[0].attributes).toHaveLength(2);
    await chain.tx("audit", "attr", "delete", provider, "--from", "auditor");
    expect((await chain.query("audit", "get", provider)).providers).toEqual([]);
    expect((await chain.query("audit", "list")).providers).toEqual([]);
  });

  test("a key without a value is refused", async () => {
    const ran = await chain.run(["tx", "audit", "attr", "create", provider, "region", "--from", "auditor"]);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain('the key "region" has no value');
  });
});
