import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestKey, testKey, toAny } from "../../src/testing/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { LegacyAminoPubKeySchema } from "../../src/wire/gen/sdk/crypto/multisig/keys_pb.js";
import { PubKeySchema } from "../../src/wire/gen/sdk/crypto/secp256k1/keys_pb.js";
import {
  type Any,
  encodeAddress,
  encodeAuthInfo,
  encodeMultiSignature,
  encodeTx,
  encodeTxBody,
  makeBitArray,
  multiMode,
  packAny,
  publicKeyAddress,
  publicKeyToAny,
  SignMode,
  signBytes,
} from "../../src/wire/index.ts";
import { coin } from "../support/chain/index.ts";
import { freePorts } from "../support/ports.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { addHolders } from "./lib/genesis.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText, type Door } from "./lib/sockets.ts";

/** An account whose members must all sign, with a key of an allowed form or not. */
interface Team {
  readonly members: readonly TestKey[];
  readonly address: string;
  readonly key: Any;
}

/** Faults of a transaction of a team. */
interface Faults {
  readonly key?: Any;
  /** Signatures that are left out. */
  readonly missing?: number;
  /** The size that the bit array states. */
  readonly bits?: number;
  readonly mode?: SignMode;
  /** Bytes that the messages hold for nothing. */
  readonly filling?: number;
}

const member = (i: number): TestKey => testKey(`member ${i}`);
const distinct = (count: number): TestKey[] => Array.from({ length: count }, (_, i) => member(i));

/** Signatures that a transaction may have (`tx_sig_limit`). */
const LIMIT = 7;
const TEAMS = {
  seven: team(distinct(LIMIT)),
  same: team(Array(LIMIT).fill(member(0))),
  eight: team(distinct(LIMIT + 1)),
  crowd: team(Array(65).fill(member(0))),
  many: team(Array(150).fill(member(0))),
  thousands: team(Array(3_000).fill(member(0))),
};
type Name = keyof typeof TEAMS;

let node: AttackedNode;
let rest: Door;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  rest = { host: "127.0.0.1", port };
  const holders = Object.values(TEAMS).map(({ address }) => ({ address, coins: [coin(1_000_000n)] }));
  node = await AttackedNode.start({
    flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`],
    editGenesis: (genesis) => addHolders(genesis, holders),
  });
});
afterAll(() => node?.close());

function team(members: readonly TestKey[]): Team {
  const keys = members.map(({ publicKey }) => {
    if (publicKey.type === "multisig") throw new Error("a member has one key");
    return publicKey;
  });
  const key = { type: "multisig", threshold: members.length, keys } as const;
  return { members, address: encodeAddress(publicKeyAddress(key)), key: publicKeyToAny(key) };
}

/** A transfer of a team to itself, which brings the team's key, with the signatures of all members. */
function signed(name: Name, faults: Faults = {}, sequence = 0n): Uint8Array {
  const { members, address, key } = TEAMS[name];
  const { missing = 0, bits = members.length, mode = SignMode.DIRECT, filling = 0 } = faults;
  const accountNumber = BigInt(node.keys.size + Object.keys(TEAMS).indexOf(name));
  const transfer = create(MsgSendSchema, { fromAddress: address, toAddress: address, amount: [coin(1n)] });
  const bodyBytes = encodeTxBody({ messages: Array(1 + Math.ceil(filling / 120)).fill(toAny(transfer)) });
  const form = multiMode(Array(members.length).fill(true), mode);
  if (form.sum.case === "multi") form.sum.value.bitarray = makeBitArray(Array(bits).fill(true));
  const signer = { publicKey: faults.key ?? key, mode: form, sequence };
  const parts = { bodyBytes, authInfoBytes: encodeAuthInfo({ amount: [], gasLimit: 30_000_000n }, [signer]) };
  const bytes = signBytes(mode, parts, { chainId: node.node.chainId, accountNumber, sequence });
  const signatures = new Map(members.map((each) => [each, each.sign(bytes)]));
  const given = members.slice(missing).map((each) => signatures.get(each) ?? new Uint8Array());
  return encodeTx(parts, [encodeMultiSignature(given)]);
}

/** A key with a member that is itself a threshold key, to this depth. */
function nestedKey(depth: number): Any {
  const { key } = TEAMS.seven;
  return depth === 0 ? key : packAny(LegacyAminoPubKeySchema, { threshold: 1, publicKeys: [nestedKey(depth - 1)] });
}

const largeKey = (bytes: number): Any => packAny(PubKeySchema, { key: new Uint8Array(bytes).fill(2) });
const base64Of = (tx: Uint8Array): string => Buffer.from(tx).toString("base64");
const sent = async (tx: Uint8Array): Promise<string> =>
  (await ask(node.door, "/", callText("broadcast_tx_sync", { tx: base64Of(tx) }))).text;
const simulated = async (tx: Uint8Array): Promise<string> =>
  (await ask(rest, "/cosmos/tx/v1beta1/simulate", JSON.stringify({ tx_bytes: base64Of(tx) }))).text;

/** Bytes of an answer: a refusal takes some 300, the events of a transfer 4,800. */
const MAX_ANSWER = 6_000;
const TOO_LARGE = "bytes of signers, fee and signatures";
const AMINO = SignMode.LEGACY_AMINO_JSON;
/** Transactions with the words in which they are refused when they are sent, and when they are simulated if others. */
const REFUSED: readonly [string, Name, Faults, string, string?][] = [
  ["one member too many", "eight", {}, "signatures: 8, limit: 7: maximum number of signatures exceeded"],
  ["one key more than a key may have", "crowd", {}, "more than 64 keys in a multisignature"],
  ["a hundred and fifty members", "many", {}, "call limit exceeded: more than 100"],
  ["thousands of members", "thousands", {}, TOO_LARGE],
  ["a threshold key as a member", "seven", { key: nestedKey(1) }, "is not a type of a signing key"],
  ["threshold keys in one another", "seven", { key: nestedKey(20) }, "more than 10 nested"],
  [
    "a bit without a signature",
    "seven",
    { missing: 1 },
    "6 signatures for 7 signing members",
    "6 signatures and 7 modes",
  ],
  // A simulation verifies no signature, so a bit without a member does no harm.
  ["a bit too many", "seven", { bits: 8 }, "bit array of 8 size does not match the 7 keys", "gas_used"],
  ["200,000 bits", "seven", { bits: 200_000 }, "bit array of 200000 size does not match the 7 keys", "gas_used"],
  ["5,000,000 bits", "seven", { bits: 5_000_000 }, TOO_LARGE],
  ["a key of 30 kB", "seven", { key: largeKey(30_000) }, "not a compressed secp256k1 key of 33 bytes"],
  ["a key of 700 kB", "seven", { key: largeKey(700_000) }, TOO_LARGE],
  ["a key of 1 MB", "seven", { key: largeKey(1_000_000) }, "the request body is larger than 1000000 bytes"],
  [
    "much text to sign",
    "seven",
    { filling: 66_000, mode: AMINO },
    "signed as amino JSON",
    "takes at most 256 messages",
  ],
];

describe("threshold keys that sign", () => {
  it.each(REFUSED)("are refused with one sentence: %s", async (_, name, faults, text, simulation = text) => {
    const tx = signed(name, faults);
    for (const [answer, words] of [
      [await sent(tx), text],
      [await simulated(tx), simulation],
    ] as const) {
      expect(answer).toContain(words);
      expect(answer.length).toBeLessThan(MAX_ANSWER);
    }
  });

  it("keep no block waiting, nor others, with any of these in any number", async () => {
    const txs = REFUSED.map(([, name, faults]) => signed(name, faults));
    const valid = signed("eight", { mode: AMINO, filling: 40_000 });
    await besiege(node, () => Promise.all([...txs, valid].flatMap((tx) => [sent(tx), simulated(tx)])));
  });

  it.each([
    ["seven", SignMode.DIRECT],
    ["same", AMINO],
  ] as const)("are taken with as many members as are allowed: %s", async (name, mode) => {
    expect(await simulated(signed(name, { mode }))).toContain("gas_used");
    await node.mustDeliver(signed(name, { mode }));
  });
});
