import { checkValidators } from "../../../client/index.ts";
import { fromHex } from "../../../util/index.ts";
import { encodeAddress, isArray, isObject, type JsonValue } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { readHeight } from "./blocks.ts";

/** Nodes return at most this many validators at once. */
const MAX_VALIDATORS = 100n;

/** `query comet-validator-set [HEIGHT]`: who signs blocks, with the addresses in the form that the chain shows. */
export async function queryValidatorSet(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const [text] = args;
  const height = text === undefined ? {} : { height: readHeight(text, "height").toString() };
  const [page, limit] = [flags.uint64("page", 1n), flags.uint("limit", MAX_VALIDATORS)];
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (limit === 0n || limit > MAX_VALIDATORS) {
    throw usageError(`--limit: a page has 1 to ${MAX_VALIDATORS} validators, not ${limit}`);
  }
  const context = createContext(input);
  const { rpc } = await context.chain();
  const request = { ...height, page: page.toString(), per_page: limit.toString() };
  const answer = checkValidators(await rpc.call("validators", request)) as JsonValue;
  const { block_height = "0", validators = [] } = isObject(answer) ? answer : {};
  const shown = (isArray(validators) ? validators : []).map((each) => bech32Address(each, flags.profile.bech32Prefix));
  printResult({ block_height, validators: shown }, context.output, io);
}

function bech32Address(validator: JsonValue, prefix: string): JsonValue {
  if (!isObject(validator) || typeof validator.address !== "string") return validator;
  return { ...validator, address: encodeAddress(fromHex(validator.address), "valcons", prefix) };
}
