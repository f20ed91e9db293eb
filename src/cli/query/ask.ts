import type { DescMethod } from "@bufbuild/protobuf";
import { decodeAddress, fromJson, type JsonObject, type JsonValue, toJson } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { inArgument, inFlag } from "../command/in-flag.ts";
import type { CliContext } from "../context/context.ts";

/** Asks an rpc with a request in proto JSON, at the height of the flags; the answer in proto JSON. */
export async function ask(context: CliContext, method: DescMethod, request: JsonObject): Promise<JsonValue> {
  const { query } = await context.chain();
  const answer = await query.call(method, fromJson(method.input, request), { height: context.height() });
  return toJson(method.output, answer);
}

/** The account address of an argument, on the network that the flags name. */
export function addressArgument(text: string, name: string, { profile }: Pick<Flags, "profile">): string {
  inArgument(name, () => decodeAddress(text, "account", profile.bech32Prefix));
  return text;
}

/** The account address of a flag; undefined when it is not given. */
export function addressFlag(flags: Flags, name: string): string | undefined {
  const text = flags.optional(name);
  if (text !== undefined) inFlag(flags, name, () => decodeAddress(text, "account", flags.profile.bech32Prefix));
  return text;
}

/** The operator address of a validator in an argument. */
export function validatorArgument(text: string, name: string, { profile }: Pick<Flags, "profile">): string {
  inArgument(name, () => decodeAddress(text, "valoper", profile.bech32Prefix));
  return text;
}
