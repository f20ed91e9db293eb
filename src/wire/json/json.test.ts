import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeAny, packAny } from "../any.ts";
import { encodeMessage } from "../codec/index.ts";
import { BaseAccountSchema } from "../gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgSendSchema } from "../gen/sdk/bank/v1beta1/tx_pb.js";
import { TxResponseSchema } from "../gen/sdk/base/abci/v1beta1/abci_pb.js";
import { PageResponseSchema } from "../gen/sdk/base/query/v1beta1/pagination_pb.js";
import { DecCoinSchema } from "../gen/sdk/base/v1beta1/coin_pb.js";
import { AuthInfoSchema, TxBodySchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { ResourceValueSchema } from "../gen/svc/base/v1beta1/base_pb.js";
import { DeploymentSchema } from "../gen/svc/deployment/v1beta1/deployment_pb.js";
import { BidSchema } from "../gen/svc/market/v1beta1/market_pb.js";
import { ProviderSchema } from "../gen/svc/provider/v1beta1/provider_pb.js";
import { allMessages } from "../registry.ts";
import { fromJson, parseDuration, printJson, readJson, sortJson, toJson, writeSortedJson } from "./index.ts";

const json = (text: string) => readJson(text);

describe("durations", () => {
  it.each([
    ["3.5s", 3n, 500_000_000],
    ["-3.5s", -3n, -500_000_000],
    ["1m30s", 90n, 0],
    ["48h0m0s", 172_800n, 0],
    ["1.5h", 5400n, 0],
    ["-1m0.5s", -60n, -500_000_000],
    ["300ms", 0n, 300_000_000],
    ["7us", 0n, 7000],
    ["9µs1ns", 0n, 9001],
    ["0.1ns", 0n, 0],
  ])("%s", (text, seconds, nanos) => {
    expect(parseDuration(text)).toEqual({ seconds, nanos });
  });

  it.each(["", "s", "1", "1d", "1m 30s", "1m30", "m", "--1s", "1m-30s", "1e3s", ".5s", "1H", `${"9".repeat(13)}h`])(
    "%j is none",
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );
});

describe("printing proto JSON", () => {
  it("has names of the proto file, defaults, text for 64 bits and enum names", () => {
    const bid = create(BidSchema, { bidId: { owner: "o", dseq: 2n ** 64n - 1n, gseq: 1 }, state: 2 });
    expect(printJson(toJson(BidSchema, bid))).toBe(
      '{"bid_id":{"owner":"o","dseq":"18446744073709551615","gseq":1,"oseq":0,"provider":""},"state":"active",' +
        '"price":{"denom":"","amount":"0.000000000000000000"},"created_at":"0","closed_on":"0","close_reason":"not_closed"}',
    );
  });

  it("prints decimals with 18 places and integer bytes as text", () => {
    const price = create(DecCoinSchema, { denom: "utoken", amount: "1250000000000000000" });
    expect(toJson(DecCoinSchema, price)).toEqual({ denom: "utoken", amount: "1.250000000000000000" });
    const value = create(ResourceValueSchema, { val: new TextEncoder().encode("1000") });
    expect(toJson(ResourceValueSchema, value)).toEqual({ val: "1000" });
  });

  it.each(["1.25", "01", "-0", "1e3", " 1", "x"])("never shows the digits %j as a decimal", (amount) => {
    const shown = toJson(DecCoinSchema, create(DecCoinSchema, { denom: "d", amount }));
    expect(shown).toEqual({ denom: "d", amount: `malformed:${amount}` });
    expect(() => fromJson(DecCoinSchema, shown)).toThrow(/amount: .* is not a number/);
  });

  it("prints what must be there with empty fields and what may be missing as null", () => {
    const provider = toJson(ProviderSchema, create(ProviderSchema, { owner: "p" }));
    expect(provider).toMatchObject({ attributes: [], info: { email: "", website: "" }, created_at: "0" });
    expect(toJson(BaseAccountSchema, create(BaseAccountSchema))).toMatchObject({ pub_key: null });
    expect(toJson(PageResponseSchema, create(PageResponseSchema))).toEqual({ next_key: null, total: "0" });
    expect(toJson(TxResponseSchema, create(TxResponseSchema))).toMatchObject({ tx: null, logs: [], timestamp: "" });
  });

  it("leaves out what is missing on demand, so that the same bytes come back", () => {
    const bare = create(ProviderSchema, { owner: "p" });
    const full = create(ProviderSchema, { owner: "p", info: {} });
    const roundTrip = (provider: typeof bare, exact: boolean) => {
      const read = fromJson(ProviderSchema, toJson(ProviderSchema, provider, { exact }));
      return Buffer.from(encodeMessage(ProviderSchema, read)).toString("hex");
    };
    expect(roundTrip(bare, true)).toBe(Buffer.from(encodeMessage(ProviderSchema, bare)).toString("hex"));
    expect(roundTrip(bare, false)).toBe(roundTrip(full, true));
    expect(roundTrip(full, true)).not.toBe(roundTrip(bare, true));
    const account = toJson(BaseAccountSchema, create(BaseAccountSchema), { exact: true });
    expect(account).toMatchObject({ pub_key: null });
  });

  it("puts @type first and leaves or rewrites its spelling", () => {
    const body = create(TxBodySchema, { messages: [packAny(MsgSendSchema, { fromAddress: "a" }, "cosmos")] });
    const expected = (word: string) =>
      `{"messages":[{"@type":"/${word}.bank.v1beta1.MsgSend","from_address":"a","to_address":"","amount":[]}],` +
      '"memo":"","timeout_height":"0","extension_options":[],"non_critical_extension_options":[]}';
    expect(printJson(toJson(TxBodySchema, body))).toBe(expected("cosmos"));
    expect(printJson(toJson(TxBodySchema, body, { namespace: "sdk" }))).toBe(expected("sdk"));
  });

  it("shows an unknown Any as base64", () => {
    const body = create(TxBodySchema, { messages: [makeAny("/other.Msg", new Uint8Array([1, 2]))] });
    expect(toJson(TxBodySchema, body)).toMatchObject({ messages: [{ "@type": "/other.Msg", value: "AQI=" }] });
  });

  it("can print the empty form of every message", () => {
    const messages = allMessages().filter((type) => type.typeName !== "google.api.HttpRule");
    for (const schema of messages) expect(toJson(schema, create(schema))).toBeDefined();
    expect(messages.length).toBeGreaterThan(100);
  });
});

describe("reading proto JSON", () => {
  it("accepts both kinds of names, null for absent, numbers and text", () => {
    const expected = create(DeploymentSchema, { deploymentId: { owner: "o", dseq: 7n }, state: 1, createdAt: 3n });
    const snake = '{"deployment_id":{"owner":"o","dseq":"7"},"state":"active","created_at":"3","version":null}';
    const camel = '{"deploymentId":{"owner":"o","dseq":7},"state":1,"createdAt":3}';
    expect(fromJson(DeploymentSchema, json(snake))).toEqual(expected);
    expect(fromJson(DeploymentSchema, json(camel))).toEqual(expected);
  });

  it("keeps the spelling of type URLs", () => {
    for (const typeUrl of ["/cosmos.bank.v1beta1.MsgSend", "/sdk.bank.v1beta1.MsgSend"]) {
      const body = fromJson(TxBodySchema, { messages: [{ "@type": typeUrl, from_address: "a" }] });
      expect(body.messages[0]?.typeUrl).toBe(typeUrl);
    }
  });

  it.each([
    ['{"memo":1}', "memo: a string was expected, not a number"],
    ['{"nope":1}', 'unknown field "nope" in sdk.tx.v1beta1.TxBody'],
    ['{"messages":{}}', "messages: a list was expected, not an object"],
    ['{"messages":[5]}', 'messages[0]: an object with "@type" was expected, not a number'],
    ['{"messages":[{}]}', 'messages[0]: the field "@type" is missing'],
    ['{"messages":[{"@type":"/x.Y"}]}', "messages[0]: unable to resolve type URL /x.Y"],
    [
      '{"messages":[{"@type":"/sdk.bank.v1beta1.MsgSend","amount":[{"denom":"a","value":"1"}]}]}',
      'messages[0].amount[0]: unknown field "value" in sdk.base.v1beta1.Coin',
    ],
    [
      '{"messages":[{"@type":"/sdk.bank.v1beta1.MsgSend","amount":[{"amount":5}]}]}',
      "messages[0].amount[0].amount: a string",
    ],
    ['{"timeout_height":"-1"}', "timeout_height: -1 is not between 0 and 18446744073709551615"],
    ['{"timeout_height":1.5}', "timeout_height: an integer was expected, not 1.5"],
    ['{"timeout_height":"1","timeoutHeight":"2"}', "timeoutHeight: the field timeout_height is given twice"],
  ])("refuses %s", (text, why) => {
    expect(() => fromJson(TxBodySchema, json(text))).toThrow(why);
  });

  it.each(["AQI", "AQ==x", "AR==", "A Q=="])("refuses the base64 %j", (version) => {
    expect(() => fromJson(DeploymentSchema, { version })).toThrow("version: base64 with padding was expected");
  });

  it("names the allowed values of an enum", () => {
    expect(() => fromJson(DeploymentSchema, { state: "open" })).toThrow(/allowed: invalid, active, closed/);
  });

  it("turns what was printed into the same bytes", () => {
    const coin = fc.record({
      denom: fc.string(),
      amount: fc.bigInt({ min: -(10n ** 90n), max: 10n ** 90n }).map(String),
    });
    const bid = fc.record({
      bidId: fc.record({ owner: fc.string(), dseq: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
      state: fc.constantFrom(0, 1, 2, 3, 4),
      price: coin,
      createdAt: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    });
    fc.assert(
      fc.property(bid, (init) => {
        const message = create(BidSchema, init);
        const again = fromJson(BidSchema, readJson(printJson(toJson(BidSchema, message))));
        expect(encodeMessage(BidSchema, again)).toEqual(encodeMessage(BidSchema, message));
      }),
    );
  });
});

describe("times", () => {
  it.each([
    ["1970-01-01T00:00:00Z", 0n, 0],
    ["2026-11-21T17:16:37.555076881Z", 1795281397n, 555076881],
    ["2000-02-29T23:59:59.500Z", 951868799n, 500000000],
    ["0001-01-01T00:00:00Z", -62135596800n, 0],
    ["9999-12-31T23:59:59Z", 253402300799n, 0],
  ])("%s", (text, seconds, nanos) => {
    const time = create(TimestampSchema, { seconds, nanos });
    expect(toJson(TimestampSchema, time)).toBe(text);
    expect(fromJson(TimestampSchema, text)).toEqual(time);
  });

  it("agrees with the platform's calendar", () => {
    fc.assert(
      fc.property(fc.integer({ min: -60_000_000_000, max: 250_000_000_000 }), (seconds) => {
        const text = new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
        expect(toJson(TimestampSchema, create(TimestampSchema, { seconds: BigInt(seconds) }))).toBe(text);
      }),
    );
  });

  it("reads offsets and refuses what is not a time", () => {
    expect(fromJson(TimestampSchema, "1970-01-01T01:00:00+01:00").seconds).toBe(0n);
    for (const text of ["2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01", "2026-13-01T00:00:00Z"]) {
      expect(() => fromJson(TimestampSchema, text)).toThrow(/write it as/);
    }
  });
});

describe("JSON text", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/__proto__|\d{16}|e\+/.test(text));
        expect(readJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['{"a":1,"a":2}', 'line 1, column 11: the key "a" appears twice'],
    ['{"__proto__":{}}', "__proto__"],
    ["9007199254740993", "write it in quotes"],
    ["1e400", "write it in quotes"],
    ["[1,]", "a value was expected"],
    ['{"a":1,}', "a string in double quotes was expected"],
    ["{a:1}", "a string in double quotes was expected"],
    ["[1] 2", "something follows the value"],
    ['"a\nb"', "a line break, a control character"],
    ['"\\x"', "an unknown escape"],
    ["", "a value was expected"],
    ["[".repeat(200), "nested too deeply"],
    ["01", "something follows"],
  ])("refuses %j", (text, why) => {
    expect(() => readJson(text)).toThrow(why);
  });

  it("leaves out a field that only other chains have, if it is null", () => {
    expect(toJson(AuthInfoSchema, fromJson(AuthInfoSchema, { fee: null, tip: null }))).toMatchObject({ fee: null });
    expect(() => fromJson(AuthInfoSchema, { tip: { tipper: "x" } })).toThrow('unknown field "tip"');
    expect(() => fromJson(AuthInfoSchema, { tips: null })).toThrow('unknown field "tips"');
  });

  it("escapes as the ecosystem does", () => {
    const text = '<b>&"\u2028é';
    expect(printJson({ text })).toBe('{"text":"\\u003cb\\u003e\\u0026\\"\\u2028é"}');
    expect(printJson({ text }, { escapeHtml: false })).toBe('{"text":"<b>&\\"\\u2028é"}');
    expect(printJson(sortJson({ b: [{ d: 1, c: 2 }], a: null }))).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  });

  it("is the same text in parts", () => {
    const value = { b: [{ d: "<&>", c: [1, { z: [], y: {} }] }, [], 2], a: null, "\u2028": { f: false, e: "x" } };
    const parts: string[] = [];
    writeSortedJson(value, (text) => parts.push(text));
    expect(parts.join("")).toBe(printJson(sortJson(value)));
    expect(parts.length).toBeGreaterThan(5);
    for (const length of [255, 256, 257, 512, 513]) {
      const list = Array.from({ length }, (_, i) => ({ b: i, a: [{ d: "[", c: i }] }));
      const text: string[] = [];
      writeSortedJson(list, (part) => text.push(part));
      expect(text.join(""), `${length} items`).toBe(printJson(sortJson(list)));
    }
  });
});
