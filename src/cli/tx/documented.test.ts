import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliChain, type Json } from "../../../test/cli/chain.ts";

/** Results and events as docs/specification/ documents them, field by field and attribute by attribute. */

const chain = await cliChain("alice", "bob");
const { alice = "", bob = "" } = chain.addresses;
afterAll(() => chain.stop());

const FIELDS = [
  ...["height", "txhash", "codespace", "code", "data", "raw_log", "logs", "info", "gas_wanted", "gas_used"],
  ...["tx", "timestamp", "events"],
];
const FEES = "5000utoken";

/** Result of `query tx HASH -o json` for each documented transaction. */
const found: Record<string, Json> = {};
beforeAll(async () => {
  const file = join(chain.home, "provider.yaml");
  writeFileSync(
    file,
    "host: https://provider.example.com:8443\nattributes: [{ key: region, value: eu }, { key: host, value: acme }]\n",
  );
  const rows: Record<string, readonly string[]> = {
    "tx provider create": ["provider", "create", file, "--from", "alice"],
    "tx cert create server": ["cert", "create", "server", "provider.example.com", "--from", "alice"],
    "tx bank send": ["bank", "send", "alice", bob, "5utoken"],
  };
  for (const [name, words] of Object.entries(rows)) {
    found[name] = await chain.query("tx", (await chain.tx(...words)).txhash);
  }
});

/** The certificate that was published. */
function certificate(): X509Certificate {
  return new X509Certificate(Buffer.from(found["tx cert create server"].tx.body.messages[0].cert, "base64"));
}

describe("a transaction result", () => {
  test("has its fields in the documented order, each of its type", async () => {
    const sent = await chain.tx("bank", "send", "alice", bob, "5utoken");
    for (const result of [sent, await chain.query("tx", sent.txhash)]) {
      expect(Object.keys(result)).toEqual(FIELDS);
      expect(result).toMatchObject({
        height: expect.stringMatching(/^[1-9]\d*$/),
        txhash: expect.stringMatching(/^[0-9A-F]{64}$/),
        codespace: "",
        code: 0,
        data: expect.stringMatching(/^([0-9A-F]{2})+$/),
        info: "",
        gas_wanted: "200000",
        gas_used: expect.stringMatching(/^\d+$/),
      });
      expect(Object.keys(result.logs[0])).toEqual(["msg_index", "log", "events"]);
      expect(result.logs[0]).toMatchObject({ msg_index: 0, log: "" });
      expect(JSON.parse(result.raw_log)[0].events).toEqual(result.logs[0].events);
      for (const event of result.logs[0].events) {
        expect(Object.keys(event)).toEqual(["type", "attributes"]);
        for (const attribute of event.attributes) expect(Object.keys(attribute)).toEqual(["key", "value"]);
      }
      expect(result.events.length).toBeGreaterThan(0);
      for (const { attributes } of result.events) {
        for (const attribute of attributes) expect(Object.keys(attribute)).toEqual(["key", "value", "index"]);
      }
    }
    expect({ tx: sent.tx, timestamp: sent.timestamp }).toEqual({ tx: null, timestamp: "" });
  });

  test("of a query holds the transaction with body, auth_info and signatures", async () => {
    const { tx, timestamp, height } = found["tx bank send"];
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const { out } = await chain.run(["query", "block", height]);
    expect(JSON.parse(out).block.header.time.slice(0, 19)).toBe(timestamp.slice(0, 19));
    expect(Object.keys(tx)).toEqual(["@type", "body", "auth_info", "signatures"]);
    expect(tx.body).toEqual({
      messages: [
        {
          "@type": "/sdk.bank.v1beta1.MsgSend",
          from_address: alice,
          to_address: bob,
          amount: [{ denom: "utoken", amount: "5" }],
        },
      ],
      memo: "",
      timeout_height: "0",
      extension_options: [],
      non_critical_extension_options: [],
    });
    expect(Object.keys(tx.body)).toEqual([
      "messages",
      "memo",
      "timeout_height",
      "extension_options",
      "non_critical_extension_options",
    ]);
    expect(tx.auth_info).toEqual({
      signer_infos: [
        {
          public_key: { "@type": "/sdk.crypto.secp256k1.PubKey", key: expect.stringMatching(/^[A-Za-z0-9+/]{44}$/) },
          mode_info: { single: { mode: "SIGN_MODE_DIRECT" } },
          sequence: "2",
        },
      ],
      fee: { amount: [{ denom: "utoken", amount: "5000" }], gas_limit: "200000", payer: "", granter: "" },
    });
    expect(tx.signatures).toEqual([expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/)]);
  });

  test("with --sign-mode amino-json names the legacy mode", async () => {
    const sent = await chain.tx("bank", "send", "alice", bob, "5utoken", "--sign-mode", "amino-json");
    const { tx } = await chain.query("tx", sent.txhash);
    expect(tx.auth_info.signer_infos[0].mode_info).toEqual({ single: { mode: "SIGN_MODE_LEGACY_AMINO_JSON" } });
  });
});

describe("the documented events", () => {
  const event = (type: string, ...pairs: (readonly [string, string])[]) => ({
    type,
    attributes: pairs.map(([key, value]) => ({ key, value })),
  });
  const eventsOf = (name: string): Json[] => found[name].logs[0].events;
  const feeTransfer = event(
    "transfer",
    ["recipient", "svc17xpfvakm2amg962yls6f84z3kell8c5l99stw0"],
    ["sender", alice],
    ["amount", FEES],
  );

  test("of tx provider create", () => {
    expect(eventsOf("tx provider create")).toEqual([
      event("message", ["action", "create-provider"], ["sender", alice]),
      event("svc.v1", ["module", "provider"], ["action", "provider-created"], ["owner", alice]),
      feeTransfer,
    ]);
  });

  test("of tx cert create server", () => {
    const [message, own, transfer] = eventsOf("tx cert create server");
    expect(message).toEqual(event("message", ["action", "cert-create-certificate"], ["sender", alice]));
    expect(own).toEqual(
      event(
        "svc.v1",
        ["module", "cert"],
        ["action", "certificate-created"],
        ["owner", alice],
        ["serial", BigInt(`0x${certificate().serialNumber}`).toString()],
      ),
    );
    expect(transfer).toEqual(feeTransfer);
  });

  test("of tx bank send", () => {
    expect(eventsOf("tx bank send")).toEqual([
      event("message", ["action", "send"], ["sender", alice], ["module", "bank"]),
      event("transfer", ["recipient", bob], ["sender", alice], ["amount", "5utoken"]),
    ]);
    const { events } = found["tx bank send"];
    const transfers = events.filter(({ type }: Json) => type === "transfer");
    const amounts = transfers.flatMap(({ attributes }: Json) => attributes.filter(({ key }: Json) => key === "amount"));
    expect(amounts.map(({ value }: Json) => value).toSorted()).toEqual([FEES, "5utoken"]);
  });
});

describe("the documented messages", () => {
  const messageOf = (name: string): Json => found[name].tx.body.messages[0];

  test("of a provider", () => {
    expect(JSON.stringify(messageOf("tx provider create"))).toBe(
      JSON.stringify({
        "@type": "/svc.provider.v1beta1.MsgCreateProvider",
        owner: alice,
        host_uri: "https://provider.example.com:8443",
        attributes: [
          { key: "region", value: "eu" },
          { key: "host", value: "acme" },
        ],
        info: { email: "", website: "" },
      }),
    );
  });

  test("of a certificate", () => {
    const { cert, pubkey, ...rest } = messageOf("tx cert create server");
    expect(rest).toEqual({ "@type": "/svc.cert.v1beta1.MsgCreateCertificate", owner: alice });
    const pem = (text: string) => Buffer.from(text, "base64").toString();
    expect(pem(cert)).toMatch(/^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/);
    const { subject, publicKey, validFrom, validTo } = certificate();
    expect(subject).toContain(`CN=${alice}`);
    expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    expect(Date.parse(validTo) - Date.parse(validFrom)).toBe(365 * 24 * 3_600_000);
    expect(pem(pubkey)).toMatch(/^-----BEGIN EC PUBLIC KEY-----\n[^-]+-----END EC PUBLIC KEY-----\n$/);
  });
});

describe("the documented deposit", () => {
  test("and fees of a provider fit an account with slightly more than 5 tokens", async () => {
    const { out } = await chain.run(["keys", "add", "small", "-o", "json"]);
    const { address } = JSON.parse(out);
    await chain.tx("bank", "send", "alice", address, "5011000utoken");
    await chain.tx("cert", "create", "client", "--from", "bob");
    await chain.tx(
      "deployment",
      "create",
      join(import.meta.dirname, "../../../examples/web.yaml"),
      "--dseq",
      "9",
      "--from",
      "bob",
    );
    const file = join(chain.home, "small.yaml");
    writeFileSync(file, "host: https://localhost:8443\n");
    await chain.tx("provider", "create", file, "--from", "small");
    await chain.tx("cert", "create", "server", "localhost", "--from", "small");
    const bid = ["market", "bid", "create", "--owner", bob, "--dseq", "9", "--price", "1utoken", "--from", "small"];
    const sent = await chain.run(["tx", ...bid, "-y", "-b", "block", "--fees", "1000utoken"]);
    expect(JSON.parse(sent.out)).toMatchObject({ code: 0, gas_wanted: "200000" });
    expect((await chain.query("bank", "balances", address)).balances).toEqual([]);
    await chain.tx("market", "lease", "create", "--dseq", "9", "--provider", address, "--from", "bob");
    const [balance] = (await chain.query("bank", "balances", address)).balances;
    expect(balance).toEqual({ denom: "utoken", amount: "5000000" });
  });
});
