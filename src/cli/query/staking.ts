import { Query as DistributionQuery } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { isObject, type JsonObject } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { printResult } from "../output.ts";
import { pageRequest } from "../page.ts";
import type { CommandInput } from "../spec.ts";
import { addressArgument, ask, validatorArgument } from "./ask.ts";

/** `query staking validators`. */
export async function queryValidators(input: CommandInput): Promise<void> {
  const { flags, io } = input;
  const status = flags.optional("status");
  const context = createContext(input);
  const request = {
    status: status === undefined ? "" : `BOND_STATUS_${status.toUpperCase()}`,
    pagination: pageRequest(flags),
  };
  printResult(await ask(context, StakingQuery.method.validators, request), context.output, io);
}

/** `query staking redelegation DELEGATOR SOURCE DESTINATION`. */
export async function queryRedelegation(input: CommandInput): Promise<void> {
  const [delegator = "", source = "", destination = ""] = input.args;
  await printRedelegations(input, {
    delegator_addr: addressArgument(delegator, "delegator-addr", input.flags),
    src_validator_addr: validatorArgument(source, "src-validator-addr", input.flags),
    dst_validator_addr: validatorArgument(destination, "dst-validator-addr", input.flags),
  });
}

/** `query staking redelegations DELEGATOR`. */
export async function queryRedelegations(input: CommandInput): Promise<void> {
  const delegator = addressArgument(input.args[0] ?? "", "delegator-addr", input.flags);
  await printRedelegations(input, { delegator_addr: delegator });
}

/** `query staking redelegations-from VALIDATOR`. */
export async function queryRedelegationsFrom(input: CommandInput): Promise<void> {
  const validator = validatorArgument(input.args[0] ?? "", "validator-addr", input.flags);
  await printRedelegations(input, { src_validator_addr: validator });
}

async function printRedelegations(input: CommandInput, filter: JsonObject): Promise<void> {
  const request = { ...filter, pagination: pageRequest(input.flags) };
  const context = createContext(input);
  printResult(await ask(context, StakingQuery.method.redelegations, request), context.output, input.io);
}

/** `query distribution rewards DELEGATOR [VALIDATOR]`: of one validator a plain list of coins. */
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
