import { Query as DistributionQuery } from "../../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { isObject } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context.ts";
import { printResult } from "../../terminal/output.ts";
import { addressArgument, ask, validatorArgument } from "../ask.ts";

/** `query distribution rewards DELEGATOR [VALIDATOR]`: for one validator a plain list of coins. */
export async function queryRewards(input: CommandInput): Promise<void> {
  const [delegator = "", validator] = input.args;
  const delegatorAddress = addressArgument(delegator, "delegator-addr", input.flags);
  const { delegationRewards, delegationTotalRewards } = DistributionQuery.method;
  if (validator === undefined) {
    const context = createContext(input);
    const answer = await ask(context, delegationTotalRewards, { delegator_address: delegatorAddress });
    printResult(answer, context.output, input.io);
    return;
  }
  const validatorAddress = validatorArgument(validator, "validator-addr", input.flags);
  const context = createContext(input);
  const request = { delegator_address: delegatorAddress, validator_address: validatorAddress };
  const answer = await ask(context, delegationRewards, request);
  printResult(isObject(answer) ? (answer.rewards ?? []) : answer, context.output, input.io);
}
