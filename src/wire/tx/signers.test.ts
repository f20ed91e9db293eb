import { create, type DescMessage } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { encodeAddress } from "../address.ts";
import { packAny } from "../any.ts";
import { MsgExecSchema } from "../gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgWithdrawValidatorCommissionSchema } from "../gen/sdk/distribution/v1beta1/tx_pb.js";
import { MsgUnjailSchema } from "../gen/sdk/slashing/v1beta1/tx_pb.js";
import { FeeSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { MsgCreateVestingAccountSchema } from "../gen/sdk/vesting/v1beta1/tx_pb.js";
import { MsgCreateDeploymentSchema, MsgDepositDeploymentSchema } from "../gen/svc/deployment/v1beta1/tx_pb.js";
import { MsgCloseLeaseSchema, MsgCreateBidSchema } from "../gen/svc/market/v1beta1/tx_pb.js";
import { printJson } from "../json/index.ts";
import { type PublicKey, publicKeyFromAny, publicKeyToAny } from "../keys/index.ts";
import { aminoName } from "../options.ts";
import { allMsgs, unpackAny } from "../registry.ts";
import { aminoMessage, hasOtherAminoName } from "./amino.ts";
import { feePayer, messageSigners, txSigners } from "./signers.ts";

describe("signers", () => {
  it("are found at a path", () => {
    const bid = create(MsgCreateBidSchema, { provider: "p" });
    expect(messageSigners(MsgCreateBidSchema, bid)).toEqual(["p"]);
    const lease = create(MsgCloseLeaseSchema, { leaseId: { owner: "o" } });
    expect(messageSigners(MsgCloseLeaseSchema, lease)).toEqual(["o"]);
    expect(messageSigners(MsgCloseLeaseSchema, create(MsgCloseLeaseSchema))).toEqual([]);
  });

  it("are found in lists, each once", () => {
    const inputs = ["a", "b", "a"].map((address) => ({ address }));
    expect(messageSigners(MsgMultiSendSchema, create(MsgMultiSendSchema, { inputs }))).toEqual(["a", "b"]);
  });

  it("are the first of several paths that is not empty", () => {
    const deposit = create(MsgDepositDeploymentSchema, { id: { owner: "o" }, depositor: "d" });
    expect(messageSigners(MsgDepositDeploymentSchema, deposit)).toEqual(["d"]);
    expect(messageSigners(MsgDepositDeploymentSchema, { ...deposit, depositor: "" })).toEqual(["o"]);
  });

  it("of a validator's message is its account", () => {
    const [validator, account] = (["valoper", "account"] as const).map((kind) =>
      encodeAddress(new Uint8Array(20), kind),
    );
    const unjail = (validatorAddr: string) =>
      messageSigners(MsgUnjailSchema, create(MsgUnjailSchema, { validatorAddr }));
    expect(unjail(validator ?? "")).toEqual([account]);
    expect(unjail("cosmosvaloper1vqekc49ukm8gu5xsn7dwsdduqan5rjw07krqgf")).toEqual([
      "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6",
    ]);
    expect(() => unjail(account ?? "")).toThrow("invalid Bech32 prefix");
    expect(unjail("")).toEqual([]);
  });

  it("of a transaction come in order, the fee payer last", () => {
    const messages = ["a", "b", "a"].map((fromAddress) => unpackAny(packAny(MsgSendSchema, { fromAddress })));
    const fee = create(FeeSchema, { payer: "c" });
    expect(txSigners(messages, create(FeeSchema))).toEqual(["a", "b"]);
    expect(txSigners(messages, fee)).toEqual(["a", "b", "c"]);
    expect([feePayer(["a"], fee), feePayer(["a"], undefined), feePayer([], undefined)]).toEqual(["c", "a", undefined]);
  });
});

describe("amino JSON of messages", () => {
  it("leaves out what is empty, keeps present messages and prints decimals", () => {
    const bid = create(MsgCreateBidSchema, {
      order: { owner: "o", dseq: 7n, gseq: 1 },
      provider: "p",
      price: { denom: "utoken", amount: "1500000000000000000" },
      deposit: {},
    });
    expect(printJson(aminoMessage({ schema: MsgCreateBidSchema, value: bid }))).toBe(
      '{"type":"svc/MsgCreateBid","value":{"order":{"owner":"o","dseq":"7","gseq":1},"provider":"p",' +
        '"price":{"denom":"utoken","amount":"1.500000000000000000"},"deposit":{}}}',
    );
  });

  it("keeps lists that are marked so, and writes bytes and integer bytes", () => {
    expect(aminoMessage({ schema: MsgSendSchema, value: create(MsgSendSchema) }).value).toEqual({ amount: [] });
    const val = new TextEncoder().encode("500");
    const deployment = create(MsgCreateDeploymentSchema, {
      version: new Uint8Array([1, 2]),
      groups: [{ resources: [{ resources: { cpu: { units: { val } } }, count: 2 }] }],
    });
    expect(aminoMessage({ schema: MsgCreateDeploymentSchema, value: deployment }).value).toEqual({
      version: "AQI=",
      groups: [{ resources: [{ resources: { cpu: { units: { val: "500" } } }, count: 2 }] }],
    });
  });
});

describe("older names of amino JSON", () => {
  it("may make another text of those messages alone that have one, or hold what is not known before it is read", () => {
    const may = (schema: DescMessage): boolean => hasOtherAminoName({ schema });
    expect([MsgSendSchema, MsgMultiSendSchema, MsgCreateDeploymentSchema, MsgUnjailSchema].map(may)).not.toContain(
      true,
    );
    expect([MsgWithdrawValidatorCommissionSchema, MsgCreateVestingAccountSchema, MsgExecSchema].map(may)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("are missed by no message of the product", () => {
    for (const schema of allMsgs().filter((each) => aminoName(each) !== undefined)) {
      const message = { schema, value: create(schema) };
      const texts = (["current", "older"] as const).map((names) => printJson(aminoMessage(message, names)));
      if (texts[0] !== texts[1]) expect(hasOtherAminoName(message), schema.typeName).toBe(true);
    }
  });
});

describe("public keys in Any", () => {
  const point = new Uint8Array(33).fill(1);
  point[0] = 2;
  const member: PublicKey = { type: "secp256k1", key: point };

  it.each<PublicKey>([
    member,
    { type: "ed25519", key: new Uint8Array(32).fill(3) },
    { type: "multisig", threshold: 1, keys: [member] },
  ])("read back in both spellings (%#)", (key) => {
    expect(publicKeyFromAny(publicKeyToAny(key))).toEqual(key);
    expect(publicKeyFromAny(publicKeyToAny(key, "cosmos"))).toEqual(key);
    expect(publicKeyToAny(key).typeUrl).toMatch(/^\/sdk\.crypto\./);
  });

  it("must be of a key type and of the right form", () => {
    expect(() => publicKeyFromAny(packAny(MsgSendSchema, {}))).toThrow(/not a type of a signing key: invalid pubkey/);
    expect(() => publicKeyFromAny(publicKeyToAny({ type: "ed25519", key: new Uint8Array(31) }))).toThrow(/31 bytes/);
    expect(() => publicKeyFromAny(publicKeyToAny({ type: "secp256k1", key: new Uint8Array(33) }))).toThrow(
      /compressed/,
    );
  });
});
