import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { sha256 } from "../../../src/crypto/index.ts";
import type { TestKey } from "../../../src/testing/keys.ts";
import { decFromInt, NATIVE_DENOM, parseDec, toUtf8 } from "../../../src/util/index.ts";
import { type MsgCreateValidator, MsgCreateValidatorSchema } from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, type JsonObject, publicKeyToAny, toJson } from "../../../src/wire/index.ts";

/** Settings of a test validator. */
export interface TestValidator {
  /** The operator's own delegation, in tokens of the chain's own kind. */
  readonly amount: bigint;
  /** Rate, the most it may be, and how much it may change; 0.1, 0.5 and 0.05 unless given. */
  readonly commission?: readonly [rate: string, max: string, change: string];
  readonly minSelfDelegation?: bigint;
  /** Name of the key that signs blocks; the operator's unless given. */
  readonly signer?: string;
}

type Fields = Exclude<MessageInitShape<typeof MsgCreateValidatorSchema>, MsgCreateValidator>;

/** Operator address of a key, `svcvaloper1...`. */
export function operatorAddress({ bytes }: TestKey): string {
  return encodeAddress(bytes, "valoper");
}

/** The 32 bytes of a validator's public key, which has no private key. */
export function consensusKey(name: string): Uint8Array {
  return Uint8Array.from(sha256(toUtf8(`consensus key of ${name}`)));
}

/** The message by which a key becomes the operator of a validator. */
export function createValidatorMessage(
  key: TestKey,
  validator: TestValidator,
  change: Fields = {},
): MsgCreateValidator {
  const { amount, commission = ["0.1", "0.5", "0.05"], minSelfDelegation = 1n, signer = key.name } = validator;
  const [rate, maxRate, maxChangeRate] = commission.map((text) => `${parseDec(text)}`);
  const message: Fields = {
    description: { moniker: key.name },
    commission: { rate: rate ?? "0", maxRate: maxRate ?? "0", maxChangeRate: maxChangeRate ?? "0" },
    minSelfDelegation: `${minSelfDelegation}`,
    delegatorAddress: key.address,
    validatorAddress: operatorAddress(key),
    pubkey: publicKeyToAny({ type: "ed25519", key: consensusKey(signer) }),
    value: { denom: NATIVE_DENOM, amount: `${amount}` },
  };
  return create(MsgCreateValidatorSchema, { ...message, ...change });
}

/** A validator of a genesis file whose tokens wait to be bonded, and its only delegation. */
export function genesisValidator(
  key: TestKey,
  tokens: bigint,
): { readonly validator: JsonObject; readonly delegation: JsonObject } {
  const [operator_address, shares] = [operatorAddress(key), `${tokens}.${"0".repeat(18)}`];
  const pubKey = publicKeyToAny({ type: "ed25519", key: consensusKey(key.name) });
  const validator = {
    operator_address,
    consensus_pubkey: toJson(AnySchema, pubKey),
    status: "BOND_STATUS_UNBONDED",
    tokens: `${tokens}`,
    delegator_shares: shares,
    description: { moniker: key.name },
    commission: { commission_rates: { rate: "0.1", max_rate: "0.5", max_change_rate: "0.05" } },
    min_self_delegation: "1",
  };
  return { validator, delegation: { delegator_address: key.address, validator_address: operator_address, shares } };
}

/** Whole shares as messages hold them. */
export function wholeShares(count: bigint): string {
  return `${decFromInt(count)}`;
}
