import { paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bigintValue,
  bytesKey,
  checkPrefixes,
  collection,
  index,
  item,
  mappedKey,
  protoValue,
  queue,
  sequence,
  tupleKey,
  uint64Key,
} from "../../store/index.ts";
import {
  HistoricalInfoSchema,
  ParamsSchema,
  RedelegationSchema,
  UnbondingDelegationSchema,
  type Validator,
  ValidatorSchema,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, stakingErrors as errors } from "../../wire/index.ts";
import { consensusAddressOf, powerOf } from "./validator.ts";

export const STORE = "staking";

/** Delegator and validator. */
export type DelegationKey = readonly [delegator: Uint8Array, validator: Uint8Array];
/** Delegator, the validator that the money leaves, and the one it goes to. */
export type RedelegationKey = readonly [delegator: Uint8Array, source: Uint8Array, destination: Uint8Array];

/** Walked from the end, the smaller of two addresses comes first. */
const invertedKey = mappedKey<Uint8Array, Uint8Array, never>(bytesKey, { to: inverted, from: inverted });
const pairKey = tupleKey<DelegationKey>(addressKey, addressKey);
const tripleKey = tupleKey<RedelegationKey>(addressKey, addressKey, addressKey);

/** Everything that the module stores. Delegations and waiting money are stored by delegator first. */
export class StakingRecords {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly validators = collection({
    name: "validator",
    prefix: 0x01,
    key: addressKey,
    value: protoValue(ValidatorSchema),
    notFound: errors.noValidator,
    describe: (operator) => encodeAddress(operator, "valoper"),
    indexes: {
      consensus: index({
        prefix: 0x02,
        key: tupleKey(addressKey),
        of: (validator: Validator) => [consensusAddressOf(validator)] as const,
      }),
      /** Validators that are not jailed, by power. */
      power: index({
        prefix: 0x03,
        key: tupleKey(uint64Key, invertedKey),
        of: (validator: Validator, operator: Uint8Array) =>
          validator.jailed ? undefined : ([powerOf(validator), operator] as const),
      }),
    },
  });
  /** Shares as decimals. */
  readonly delegations = collection({
    name: "delegation",
    prefix: 0x04,
    key: pairKey,
    value: bigintValue,
    notFound: errors.noDelegation,
    indexes: {
      validator: index({
        prefix: 0x05,
        key: tupleKey(addressKey),
        of: (_: bigint, [, validator]: DelegationKey) => [validator] as const,
      }),
    },
  });
  readonly unbondings = collection({
    name: "unbonding delegation",
    prefix: 0x06,
    key: pairKey,
    value: protoValue(UnbondingDelegationSchema),
    notFound: errors.noUnbonding,
    indexes: {
      validator: index({
        prefix: 0x07,
        key: tupleKey(addressKey),
        of: (_: unknown, [, validator]: DelegationKey) => [validator] as const,
      }),
    },
  });
  readonly redelegations = collection({
    name: "redelegation",
    prefix: 0x08,
    key: tripleKey,
    value: protoValue(RedelegationSchema),
    notFound: errors.noRedelegation,
    indexes: {
      source: index({
        prefix: 0x09,
        key: tupleKey(addressKey),
        of: (_: unknown, [, source]: RedelegationKey) => [source] as const,
      }),
      destination: index({
        prefix: 0x0a,
        key: tupleKey(addressKey, addressKey),
        of: (_: unknown, [delegator, , destination]: RedelegationKey) => [destination, delegator] as const,
      }),
    },
  });
  /** Powers last reported to the engine, by operator. */
  readonly lastPowers = collection({ name: "power", prefix: 0x0b, key: addressKey, value: bigintValue });
  readonly lastTotalPower = item({ name: "total power", prefix: 0x0c, value: bigintValue });
  /** By the time in nanoseconds at which they are complete. */
  readonly unbondingQueue = queue({ name: "unbonding", prefix: 0x0d, key: pairKey });
  readonly redelegationQueue = queue({ name: "redelegation", prefix: 0x0e, key: tripleKey });
  readonly validatorQueue = queue({ name: "unbonding validator", prefix: 0x0f, key: addressKey });
  readonly unbondingIds = sequence({ name: "unbonding id", prefix: 0x10, first: 1n });
  readonly history = collection({
    name: "historical info",
    prefix: 0x11,
    key: uint64Key,
    value: protoValue(HistoricalInfoSchema),
    notFound: errors.noHistory,
    describe: (height) => `at height ${height}`,
  });

  constructor() {
    const { params, validators, delegations, unbondings, redelegations, lastPowers, lastTotalPower } = this;
    const { unbondingQueue, redelegationQueue, validatorQueue, unbondingIds, history } = this;
    const records = { params, validators, delegations, unbondings, redelegations, lastPowers, lastTotalPower };
    checkPrefixes({ ...records, unbondingQueue, redelegationQueue, validatorQueue, unbondingIds, history });
  }
}

function inverted(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => ~byte);
}
