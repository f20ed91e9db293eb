import { errorText } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import {
  decodeAddress,
  decodePublicKey,
  encodeAddress,
  isObject,
  publicKeyAddress,
  publicKeyFromJson,
  readJson,
} from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { usageError } from "../errors.ts";
import { printResult } from "../output.ts";
import type { CommandInput } from "../spec.ts";
import { ask } from "./ask.ts";

/** `query slashing signing-info VALIDATOR`: its consensus address or its public key. */
export async function querySigningInfo(input: CommandInput): Promise<void> {
  const consAddress = consensusAddress(input.args[0] ?? "", input.flags.profile.bech32Prefix);
  const context = createContext(input);
  const answer = await ask(context, Query.method.signingInfo, { cons_address: consAddress });
  printResult(isObject(answer) ? (answer.val_signing_info ?? null) : answer, context.output, input.io);
}

/** The consensus address of a validator from itself, from the bech32 form of its key or from the key's JSON. */
function consensusAddress(text: string, prefix: string): string {
  try {
    if (text.startsWith("{"))
      return encodeAddress(publicKeyAddress(publicKeyFromJson(readJson(text))), "valcons", prefix);
    if (text.startsWith(`${prefix}valconspub`)) {
      return encodeAddress(publicKeyAddress(decodePublicKey(text, "valconsPub", prefix)), "valcons", prefix);
    }
    decodeAddress(text, "valcons", prefix);
    return text;
  } catch (error) {
    throw usageError(
      `<validator>: ${errorText(error)}`,
      "give its consensus address or public key, as svc tendermint show-address or show-validator print it",
    );
  }
}
