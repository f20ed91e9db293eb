import { create } from "@bufbuild/protobuf";
import type { ChainSource, Validator } from "../../engine/index.ts";
import { sdkErrors } from "../../util/index.ts";
import type { PageRequest } from "../../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import { ValidatorSchema } from "../../wire/gen/sdk/base/tendermint/v1beta1/query_pb.js";
import { encodeAddress, type Namespace, publicKeyToAny } from "../../wire/index.ts";

const MAX_ROWS = 100n;

interface Asked {
  readonly height: bigint;
  readonly pagination: PageRequest | undefined;
  readonly namespace: Namespace;
}

/** The validators that vote on the block of a height, in pages. */
export async function validatorSet(chain: ChainSource, { height, pagination, namespace }: Asked) {
  const all = await chain.blocks.validators(height);
  if (all === undefined) throw sdkErrors.notFound(`the validators of block ${height}`);
  const { offset = 0n, limit = 0n, reverse = false } = pagination ?? {};
  const size = limit === 0n || limit > MAX_ROWS ? MAX_ROWS : limit;
  const start = offset > BigInt(all.length) ? all.length : Number(offset);
  const rows = (reverse ? [...all].reverse() : all).slice(start, start + Number(size));
  return {
    blockHeight: height,
    validators: rows.map((validator) => validatorMessage(validator, namespace)),
    pagination: { total: BigInt(all.length) },
  };
}

function validatorMessage({ address, pubKey, power }: Validator, namespace: Namespace) {
  return create(ValidatorSchema, {
    address: encodeAddress(address, "valcons"),
    pubKey: publicKeyToAny({ type: "ed25519", key: pubKey }, namespace),
    votingPower: power,
  });
}
