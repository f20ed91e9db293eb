import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../../abci/index.ts";
import { createApp, genesisProblems, moduleSet } from "../../app/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { testChain, testKey } from "../../testing/index.ts";
import { BaseAccountSchema, ModuleAccountSchema, Query } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  decodeMessage,
  encodeAddress,
  encodeMessage,
  multisigPublicKey,
  publicKeyFromAny,
  unpackAs,
} from "../../wire/index.ts";
import { accountValue } from "./account-codec.ts";

const single = testKey("codec").publicKey;
const multisig = multisigPublicKey(1, [
  { type: "secp256k1", key: single.type === "multisig" ? new Uint8Array() : single.key },
]);

describe("the stored form of accounts", () => {
  test("reads back what was written", () => {
    const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const publicKey = fc.constantFrom(undefined, single, multisig);
    fc.assert(
      fc.property(uint64, uint64, publicKey, (number, sequence, key) => {
        const account = { number, sequence, publicKey: key };
        const decoded = accountValue.decode(accountValue.encode(account));
        expect(decoded).toMatchObject({ number, sequence });
        expect(JSON.stringify(decoded.publicKey)).toBe(JSON.stringify(normal(key)));
      }),
    );
  });

  test("module accounts keep their permissions", () => {
    const account = { number: 3n, sequence: 0n, publicKey: undefined };
    for (const permissions of [[], ["minter"], ["minter", "burner"]]) {
      const module = { name: "mint", permissions };
      expect(accountValue.decode(accountValue.encode({ ...account, module }))).toEqual({ ...account, module });
    }
  });

  test("is small", () => {
    expect(accountValue.encode({ number: 1n, sequence: 1n, publicKey: single })).toHaveLength(17 + 38);
  });
});

/** The same key with all bytes in buffers, as decoding gives them. */
function normal(key: typeof single | undefined): unknown {
  if (key === undefined) return undefined;
  if (key.type !== "multisig") return { type: key.type, key: Buffer.from(key.key) };
  return { ...key, keys: key.keys.map((each) => ({ type: each.type, key: Buffer.from(each.key) })) };
}

describe("queries", () => {
  test("an account shows its key, in the spelling that was asked", () => {
    const chain = testChain();
    const from = chain.key("alice");
    const message = create(MsgSendSchema, {
      fromAddress: from.address,
      toAddress: from.address,
      amount: [{ denom: "utoken", amount: "1" }],
    });
    chain.mustSend(message, { from });
    for (const namespace of ["sdk", "cosmos"]) {
      const data = encodeMessage(
        Query.method.account.input,
        create(Query.method.account.input, { address: from.address }),
      );
      const path = `/${namespace}.auth.v1beta1.Query/Account`;
      const { value } = chain.app.query({ path, data, height: 0n, prove: false });
      const { account } = decodeMessage(Query.method.account.output, value);
      const base = unpackAs(BaseAccountSchema, account);
      expect(account?.typeUrl).toBe(`/${namespace}.auth.v1beta1.BaseAccount`);
      expect(base?.pubKey?.typeUrl).toBe(`/${namespace}.crypto.secp256k1.PubKey`);
      expect(base?.sequence).toBe(1n);
      if (base?.pubKey) expect(JSON.stringify(publicKeyFromAny(base.pubKey))).toBe(JSON.stringify(from.publicKey));
    }
  });

  test("module accounts, pages, absent accounts and malformed addresses", () => {
    const chain = testChain({ modules: () => [] });
    const collector = encodeAddress(moduleAddress("fee_collector"));
    const { account } = chain.query(Query.method.account, { address: collector });
    expect(unpackAs(ModuleAccountSchema, account)).toMatchObject({ name: "fee_collector", permissions: [] });
    const page = chain.query(Query.method.accounts, { pagination: { limit: 3n, countTotal: true } });
    expect(page.accounts).toHaveLength(3);
    expect(page.pagination?.total).toBe(5n);
    const rest = chain.query(Query.method.accounts, {
      pagination: { key: page.pagination?.nextKey ?? new Uint8Array() },
    });
    expect(rest.accounts).toHaveLength(2);
    const nobody = testKey("nobody").address;
    expect(() => chain.query(Query.method.account, { address: nobody })).toThrow(
      `account ${nobody} not found: key not found`,
    );
    expect(() => chain.query(Query.method.account, { address: "svc1bad" })).toThrow(/invalid address$/);
  });

  test("addresses are read and written as the network does", () => {
    const chain = testChain();
    const { address, bytes } = chain.key("alice");
    expect(chain.query(Query.method.bech32Prefix, {}).bech32Prefix).toBe("svc");
    expect(chain.query(Query.method.addressBytesToString, { addressBytes: bytes }).addressString).toBe(address);
    expect(chain.query(Query.method.addressStringToBytes, { addressString: address }).addressBytes).toEqual(
      Uint8Array.from(bytes),
    );
    for (const addressString of ["", "svcvaloper1", address.replace("svc", "cosmos"), "x".repeat(2_000)])
      expect(() => chain.query(Query.method.addressStringToBytes, { addressString })).toThrow(/address/);
    for (const length of [0, 19, 21, 255, 5_000])
      expect(() => chain.query(Query.method.addressBytesToString, { addressBytes: new Uint8Array(length) })).toThrow(
        `address of ${length} bytes`,
      );
  });

  test("parameters have the ecosystem's values, half its store prices, and what reading and signatures are worth", () => {
    const { params } = testChain().query(Query.method.params, {});
    expect(params).toMatchObject({
      maxMemoCharacters: 256n,
      txSigLimit: 7n,
      txSizeCostPerByte: 10n,
      sigVerifyCostEd25519: 590n,
      sigVerifyCostSecp256k1: 10_000n,
    });
    const { $typeName: _, ...storeGas } = params?.storeGas ?? { $typeName: "" };
    expect(storeGas).toEqual({
      has: 500n,
      delete: 500n,
      readFlat: 500n,
      readByte: 6n,
      writeFlat: 1000n,
      writeByte: 15n,
      iterateFlat: 20n,
    });
  });
});

describe("genesis", () => {
  const { modules } = moduleSet(() => []);
  const base = (address: string, number = "0") => ({
    "@type": "/cosmos.auth.v1beta1.BaseAccount",
    address,
    account_number: number,
  });

  test("numbers follow the order of the old ones, module accounts come last", () => {
    const [a, b] = [testKey("a").address, testKey("b").address];
    const app = createApp({ database: memoryDatabase(), set: moduleSet(() => []) });
    app.initChain({
      chainId: "test-1",
      time: 0n,
      initialHeight: 1n,
      validators: [],
      consensusParams: DEFAULT_CONSENSUS_PARAMS,
      appState: { auth: { accounts: [base(a, "7"), base(b, "3")] } },
    });
    app.finalizeBlock({
      ...NO_VOTERS,
      txs: [],
      height: 1n,
      time: 1n,
      proposer: new Uint8Array(20),
      hash: new Uint8Array(32),
    });
    app.commit();
    const { auth } = app.exportGenesis();
    expect(auth).toMatchObject({
      accounts: [
        { "@type": "/sdk.auth.v1beta1.BaseAccount", address: b, account_number: "0", pub_key: null },
        { address: a, account_number: "1" },
        { "@type": "/sdk.auth.v1beta1.ModuleAccount", name: "fee_collector", base_account: { account_number: "2" } },
      ],
    });
  });

  test("every problem is named", () => {
    const [a, b] = [testKey("a").address, testKey("b").address];
    const key = {
      "@type": "/sdk.crypto.secp256k1.PubKey",
      key: Buffer.from(single.type === "multisig" ? [] : single.key).toString("base64"),
    };
    const auth = {
      params: {
        tx_sig_limit: "0",
        max_memo_characters: "99999999",
        sig_verify_cost_secp256k1: "0",
        tx_size_cost_per_byte: "9223372036854775807",
        store_gas: { write_byte: "1000000000001" },
      },
      accounts: [
        base(a),
        base(a),
        base("svc1nonsense"),
        base(encodeAddress(moduleAddress("fee_collector"))),
        { ...base(b), pub_key: key },
        { "@type": "/sdk.auth.v1beta1.ModuleAccount", name: "nosuch", base_account: { address: b } },
        key,
      ],
    };
    const problems = genesisProblems(modules, { auth, nosuch: {} });
    const texts = [
      /^nosuch: there is no such module$/,
      /^auth: params.max_memo_characters: must be at most 65536$/,
      /^auth: params.tx_sig_limit: must be 1 to 100$/,
      /^auth: params.tx_size_cost_per_byte: must be at most 1000000000000$/,
      /^auth: params.store_gas.write_byte: must be at most 1000000000000$/,
      /^auth: params.sig_verify_cost_secp256k1: must be positive$/,
      /^auth: accounts\[1\]: the address appears twice$/,
      /^auth: accounts\[2\]: .*invalid address$/,
      /^auth: accounts\[3\]: the address belongs to a module/,
      /^auth: accounts\[4\]: the public key is not the one of svc1/,
      /^auth: accounts\[5\]: there is no module account "nosuch"$/,
      /^auth: accounts\[6\]: "\/sdk\.crypto\.secp256k1\.PubKey" is not an account/,
    ];
    expect(problems).toHaveLength(texts.length);
    for (const [i, text] of texts.entries()) expect(problems[i]).toMatch(text);
  });
});

test("an account is found by its number", () => {
  const chain = testChain();
  const ask = (request: { accountId?: bigint; id?: bigint }) => chain.query(Query.method.accountAddressByID, request);
  for (const name of ["alice", "bob"]) {
    const { address } = chain.key(name);
    const { accountNumber: accountId } = chain.account(address);
    expect(ask({ accountId }).accountAddress).toBe(address);
  }
  expect(() => ask({ accountId: 10_000n })).toThrow("account address not found with account number 10000");
  expect(() => ask({ accountId: 1n, id: 1n })).toThrow("requesting with id isn't supported");
});
