import { describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import vectors from "../../../test/vectors/keys.json" with { type: "json" };
import { toHexUpper } from "../../util/index.ts";
import { parseBech32 } from "../../wire/index.ts";

const debug = async (...words: string[]) => runCli(["debug", ...words, "--profile", "cosmos"]);
const [k0] = vectors.keys;
if (k0 === undefined) throw new Error("no vectors");
const hex = toHexUpper(parseBech32(k0.address).bytes);
const KEY = "AxLZ24vr+sh4EwC/7P3mUCjdfn/ohvrFNsfRUTuz0pNm";

describe("debug addr", () => {
  test.each([k0.address, `${k0.valoper}`, `${k0.valcons}`, hex, hex.toLowerCase()])("%s", async (text) => {
    const { code, out, err } = await debug("addr", text);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [first, ...others] = out.split("\n");
    expect(first).toMatch(/^Address: \[96 51 108 84 /);
    expect(others).toEqual([
      `Address (hex): ${hex}`,
      `Bech32 Acc: ${k0.address}`,
      `Bech32 Val: ${k0.valoper}`,
      `Bech32 Con: ${k0.valcons}`,
      "",
    ]);
  });

  test("writes the address of another network in ours", async () => {
    expect((await runCli(["debug", "addr", k0.address])).out).toContain(
      "Bech32 Acc: svc1vqekc49ukm8gu5xsn7dwsdduqan5rjw0",
    );
  });
});

describe("debug pubkey", () => {
  test.each([
    `{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"${KEY}"}`,
    `{"@type":"/sdk.crypto.secp256k1.PubKey","key":"${KEY}"}`,
    `{"type":"tendermint/PubKeySecp256k1","value":"${KEY}"}`,
    KEY,
    Buffer.from(KEY, "base64").toString("hex"),
    `${k0.pubkey}`,
    `${k0.valoperpub}`,
  ])("%s", async (text) => {
    expect((await debug("pubkey", text)).out.split("\n")).toEqual([
      `Address: ${hex}`,
      `PubKey Hex: ${Buffer.from(KEY, "base64").toString("hex")}`,
      `JSON: {"@type":"/cosmos.crypto.secp256k1.PubKey","key":"${KEY}"}`,
      `Bech32 Acc: ${k0.address}`,
      `Bech32 Acc Pub: ${k0.pubkey}`,
      "",
    ]);
  });

  test("a validator's key has a consensus address", async () => {
    const { out } = await debug(
      "pubkey",
      '{"type":"tendermint/PubKeyEd25519","value":"HFW8PGL58arqTdSp0nhi5YLI9/nZ3i4/lkMreOg5idE="}',
    );
    // As the node with this key reported it.
    expect(out).toContain("Address: E2B602CC85E411CFF06C01C73252EE8D32C2230A\n");
    expect(out).toContain("Bech32 Con Pub: cosmosvalconspub1zcjduepq");
  });

  test("a multisig has an address and a bech32 form", async () => {
    const [multisig] = vectors.multisig;
    const { out } = await debug("pubkey", multisig?.pubkey ?? "");
    expect(out).toContain(`Bech32 Acc: ${multisig?.address}\n`);
  });
});

describe("debug raw-bytes", () => {
  test.each([
    ["[72 101 108 108 111 44 32 119]"],
    ["72,101,108,108,111,44,32,119"],
    ["72", "101", "108", "108", "111", "44", "32", "119"],
  ])("%s", async (...words) => expect((await debug("raw-bytes", ...words)).out).toBe("48656C6C6F2C2077\n"));
});

test.each([
  [["addr", "zz"], "<address>: decoding bech32 failed"],
  [["addr", "abcd"], "<address>: an address has 20 or 32 bytes, not 2"],
  [["addr", ""], "<address>: empty address"],
  [["pubkey", "{"], "<key>: invalid JSON"],
  [["pubkey", "{}"], "<key>: the type of the key is not known"],
  [["pubkey", `{"@type":"/x.PubKey","key":"${KEY}"}`], "<key>: the type of the key is not known"],
  [["pubkey", "abcd"], "<key>: amino bytes of no known key type"],
  [["pubkey", "%%"], "<key>: "],
  [["pubkey", ""], "<key>: "],
  [["raw-bytes", "[256]"], '<bytes>: "256" is not a number'],
  [["raw-bytes", "0x10"], '<bytes>: "0x10" is not a number'],
])("debug %j is refused", async (words, text) => {
  const { code, out, err } = await debug(...words);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(text);
  expect(err).toContain("Hint: ");
});
