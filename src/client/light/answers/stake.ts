import { decQuo, decTruncate, fromUtf8, sdkErrors } from "../../../util/index.ts";
import { Query } from "../../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { ParamsSchema, type Validator, ValidatorSchema } from "../../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { addressPart, PARAMS_KEY, recordKey } from "../keys.ts";
import type { ProvenState } from "../state.ts";
import { findRecord, type ProvenAnswer, provenAnswer } from "./answer.ts";

const STORE = "staking";

/** Validators and delegations. */
export const answers: readonly ProvenAnswer[] = [
  provenAnswer(Query.method.validator, async (state, { validatorAddr }) => {
    const validator = await findValidator(state, validatorAddr);
    if (validator === undefined) throw sdkErrors.keyNotFound(`validator ${validatorAddr} not found`);
    return { validator };
  }),
  provenAnswer(Query.method.delegation, async (state, { delegatorAddr, validatorAddr }) => {
    const key = recordKey(0x04, addressPart(delegatorAddr), addressPart(validatorAddr, "valoper"));
    const [shares, validator, params] = await Promise.all([
      state.get(STORE, key),
      findValidator(state, validatorAddr),
      findRecord(state, ParamsSchema, { store: STORE, key: PARAMS_KEY }),
    ]);
    if (shares === undefined || validator === undefined) {
      throw sdkErrors.keyNotFound(
        `delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`,
      );
    }
    const amount = BigInt(fromUtf8(shares));
    const delegation = { delegatorAddress: delegatorAddr, validatorAddress: validatorAddr, shares: `${amount}` };
    const balance = { denom: params?.bondDenom ?? "", amount: `${tokensOf(validator, amount)}` };
    return { delegationResponse: { delegation, balance } };
  }),
];

function findValidator(state: ProvenState, address: string): Promise<Validator | undefined> {
  return findRecord(state, ValidatorSchema, { store: STORE, key: recordKey(0x01, addressPart(address, "valoper")) });
}

/** Worth of shares, rounded down. */
function tokensOf({ tokens, delegatorShares }: Validator, shares: bigint): bigint {
  return decTruncate(decQuo(shares * BigInt(tokens), BigInt(delegatorShares)));
}
