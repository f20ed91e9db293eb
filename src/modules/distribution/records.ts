import { paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bytesValue,
  checkPrefixes,
  collection,
  item,
  protoValue,
  tupleKey,
  uint64Key,
} from "../../store/index.ts";
import {
  DelegatorStartingInfoSchema,
  FeePoolSchema,
  ParamsSchema,
  ValidatorAccumulatedCommissionSchema,
  ValidatorCurrentRewardsSchema,
  ValidatorHistoricalRewardsSchema,
  ValidatorOutstandingRewardsSchema,
  ValidatorSlashEventSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";

export const STORE = "distribution";

/** Everything that the module stores; a validator is named by its operator. */
export class DistributionRecords {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly feePool = item({ name: "community pool", prefix: 0x01, value: protoValue(FeePoolSchema) });
  /** Consensus address of the proposer of the last block. */
  readonly proposer = item({ name: "last proposer", prefix: 0x02, value: bytesValue });
  readonly outstanding = collection({
    name: "outstanding rewards",
    prefix: 0x03,
    key: addressKey,
    value: protoValue(ValidatorOutstandingRewardsSchema),
  });
  /** By delegator. */
  readonly withdrawAddresses = collection({
    name: "withdraw address",
    prefix: 0x04,
    key: addressKey,
    value: bytesValue,
  });
  readonly starts = collection({
    name: "starting info",
    prefix: 0x05,
    key: tupleKey<readonly [validator: Uint8Array, delegator: Uint8Array]>(addressKey, addressKey),
    value: protoValue(DelegatorStartingInfoSchema),
  });
  readonly historical = collection({
    name: "historical rewards",
    prefix: 0x06,
    key: tupleKey<readonly [validator: Uint8Array, period: bigint]>(addressKey, uint64Key),
    value: protoValue(ValidatorHistoricalRewardsSchema),
  });
  readonly current = collection({
    name: "current rewards",
    prefix: 0x07,
    key: addressKey,
    value: protoValue(ValidatorCurrentRewardsSchema),
  });
  readonly commissions = collection({
    name: "commission",
    prefix: 0x08,
    key: addressKey,
    value: protoValue(ValidatorAccumulatedCommissionSchema),
  });
  readonly slashes = collection({
    name: "slash",
    prefix: 0x09,
    key: tupleKey<readonly [validator: Uint8Array, height: bigint, period: bigint]>(addressKey, uint64Key, uint64Key),
    value: protoValue(ValidatorSlashEventSchema),
  });

  constructor() {
    const { params, feePool, proposer, outstanding, withdrawAddresses, starts, historical, current } = this;
    const { commissions, slashes } = this;
    const records = { params, feePool, proposer, outstanding, withdrawAddresses, starts, historical, current };
    checkPrefixes({ ...records, commissions, slashes });
  }
}
