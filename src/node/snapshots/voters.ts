import { create } from "@bufbuild/protobuf";
import type { ValidatorUpdate } from "../../abci/index.ts";
import type { SvcApplication } from "../../app/index.ts";
import type { Anchor, Genesis, Validator } from "../../engine/index.ts";
import { consensusKeyOf, powerOf } from "../../modules/staking/index.ts";
import { storeErrors } from "../../store/index.ts";
import { equalBytes, toHex } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { decodeMessage, encodeMessage, methodPath } from "../../wire/index.ts";

/**
 * Compares the voters of a snapshot's blocks with the restored state, because no header contains them. The state holds
 * the voters of the block after the next, and remembers the earlier ones. Throws `store/11` if they differ.
 */
export function checkVoters(app: SvcApplication, { record, sets }: Anchor, genesis: Genesis): void {
  const { height } = record.header;
  const latest = app.voters();
  const next = votersAfter(app, height) ?? latest;
  const own = votersAfter(app, height - 1n) ?? next;
  for (const [i, known] of [own, next, latest].entries())
    if (!isSet(sets[i]?.voters ?? [], known, genesis.validators))
      throw storeErrors.badSnapshot(`the voters of block ${height + BigInt(i)} are not those of its state`);
}

/** The voters of the block after a height; undefined if the state does not remember them. */
function votersAfter(app: SvcApplication, height: bigint): ValidatorUpdate[] | undefined {
  const method = Query.method.historicalInfo;
  const data = encodeMessage(method.input, create(method.input, { height }));
  const { code, value } = app.query({ path: methodPath(method), data, height: 0n, prove: false });
  if (code !== 0) return undefined;
  const { hist } = decodeMessage(method.output, value);
  return hist?.valset.map((validator) => ({ pubKey: consensusKeyOf(validator), power: powerOf(validator) }));
}

/** Whether voters equal the state's, or validators of the genesis file that the state does not know. */
function isSet(voters: readonly Validator[], known: readonly ValidatorUpdate[], begun: Genesis["validators"]): boolean {
  const powers = new Map(known.map(({ pubKey, power }) => [toHex(pubKey), power]));
  const keys = new Set(voters.map(({ pubKey }) => toHex(pubKey)));
  const isBegun = ({ pubKey, power }: Validator) =>
    begun.some((each) => equalBytes(each.pubKey, pubKey) && each.power === power);
  return (
    keys.size === voters.length &&
    [...powers.keys()].every((key) => keys.has(key)) &&
    voters.every((voter) => (powers.get(toHex(voter.pubKey)) ?? voter.power) === voter.power) &&
    voters.every((voter) => powers.has(toHex(voter.pubKey)) || isBegun(voter))
  );
}
