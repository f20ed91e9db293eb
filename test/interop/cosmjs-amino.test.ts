import { Registry } from "@cosmjs/proto-signing";
import {
  AminoTypes,
  createDistributionAminoConverters,
  createStakingAminoConverters,
  defaultRegistryTypes,
} from "@cosmjs/stargate";
import { describe, expect, test } from "vitest";
import { aminoMessage, fromJson, type JsonObject, packAny, resolveTypeUrl } from "../../src/wire/index.ts";

/** The ecosystem's client library reads our bytes of staking messages and gives them the same amino JSON. */

const DELEGATOR = "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6";
const VALIDATOR = "cosmosvaloper1vqekc49ukm8gu5xsn7dwsdduqan5rjw07krqgf";
const OTHER = "cosmosvaloper1pk3acgv3c5jy880cskd6vzgka3reed0v3p5ycq";
const KEY = { "@type": "/cosmos.crypto.ed25519.PubKey", key: "HFW8PGL58arqTdSp0nhi5YLI9/nZ3i4/lkMreOg5idE=" };
const amount = { denom: "stake", amount: "7" };
const of = { delegator_address: DELEGATOR, validator_address: VALIDATOR };
const description = { moniker: "m <&>", identity: "", website: "w", security_contact: "s", details: "d" };

const MESSAGES: readonly (readonly [type: string, fields: JsonObject])[] = [
  ["staking.v1beta1.MsgDelegate", { ...of, amount }],
  ["staking.v1beta1.MsgUndelegate", { ...of, amount }],
  [
    "staking.v1beta1.MsgBeginRedelegate",
    { delegator_address: DELEGATOR, validator_src_address: VALIDATOR, validator_dst_address: OTHER, amount },
  ],
  ["staking.v1beta1.MsgCancelUnbondingDelegation", { ...of, amount, creation_height: "12" }],
  [
    "staking.v1beta1.MsgCreateValidator",
    {
      ...of,
      description: { ...description, identity: "i" },
      commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
      min_self_delegation: "1",
      pubkey: KEY,
      value: amount,
    },
  ],
  ["distribution.v1beta1.MsgWithdrawDelegatorReward", of],
  ["distribution.v1beta1.MsgWithdrawValidatorCommission", { validator_address: VALIDATOR }],
  ["distribution.v1beta1.MsgSetWithdrawAddress", { delegator_address: DELEGATOR, withdraw_address: DELEGATOR }],
  ["distribution.v1beta1.MsgFundCommunityPool", { amount: [amount], depositor: DELEGATOR }],
];

/** Values that amino omits. */
const isPresent = (value: unknown): boolean => value !== undefined && value !== "";

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => isPresent(each));
  return Object.fromEntries(entries.map(([key, each]) => [key, compact(each)]));
}

const converters = { ...createStakingAminoConverters(), ...createDistributionAminoConverters() };

describe("messages of staking and rewards", () => {
  const registry = new Registry(defaultRegistryTypes);
  const types = new AminoTypes(converters);

  test.each(MESSAGES)("%s is read and written with the same bytes", (name, fields) => {
    const typeUrl = `/cosmos.${name}`;
    const schema = resolveTypeUrl(typeUrl);
    const bytes = packAny(schema, fromJson(schema, fields), "cosmos").value;
    const decoded = registry.decode({ typeUrl, value: bytes });
    expect(registry.encode({ typeUrl, value: decoded })).toEqual(bytes);
  });

  const signed = MESSAGES.filter(([name]) => `/cosmos.${name}` in converters);

  test("the library signs almost all of them", () => expect(signed.length).toBeGreaterThanOrEqual(8));

  // It has the names of releases before 0.46.
  test.each(signed)("%s has the same amino JSON", (name, fields) => {
    const typeUrl = `/cosmos.${name}`;
    const schema = resolveTypeUrl(typeUrl);
    const value = fromJson(schema, fields);
    const decoded = registry.decode({ typeUrl, value: packAny(schema, value, "cosmos").value });
    expect(compact(types.toAmino({ typeUrl, value: decoded }))).toEqual(aminoMessage({ schema, value }, "older"));
  });
});
