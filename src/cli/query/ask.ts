import type { DescMethod } from "@bufbuild/protobuf";
import { errorText } from "../../util/index.ts";
import { decodeAddress, fromJson, type JsonObject, type JsonValue, toJson } from "../../wire/index.ts";
import type { CliContext } from "../context.ts";
import { usageError } from "../errors.ts";

/** Asks an rpc with a request in proto JSON, at the height of the flags; the answer in proto JSON. */
export async function ask(context: CliContext, method: DescMethod, request: JsonObject): Promise<JsonValue> {
  const { query } = await context.chain();
  const answer = await query.call(method, fromJson(method.input, request), { height: context.height() });
  return toJson(method.output, answer);
}

/** The account address of an argument. */
export function addressArgument(text: string, name: string): string {
  try {
    decodeAddress(text);
    return text;
  } catch (error) {
    throw usageError(`<${name}>: ${errorText(error)}`);
  }
}
