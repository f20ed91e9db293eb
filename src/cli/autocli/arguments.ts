import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { CliText, cliField, type JsonValue, signerPath } from "../../wire/index.ts";
import type { Flags } from "../command/flags.ts";
import { coinArgument, coinsArgument } from "../values/coins.ts";
import { fieldName } from "./commands.ts";
import { isCoin, wordOf } from "./fields.ts";
import { readValue } from "./values/values.ts";

/** An argument that sets a field. */
export interface Argument {
  readonly field: DescField;
  /** Its word in the help and in errors. */
  readonly name: string;
  /** As the help shows it: a list, or a name that ends in a question mark, may be left out. */
  readonly form: string;
  /** It names the key that signs. */
  readonly isSender: boolean;
}

/** The arguments that the options of an rpc name, in their order. */
export function argumentsOf(schema: DescMessage, args: readonly string[]): Argument[] {
  return args.map((arg) => {
    const field = schema.fields.find((each) => each.name === fieldName(arg));
    assert(field !== undefined, `${schema.typeName} has no field ${arg}`);
    const isSender = field.name === signerPath(schema);
    const name = isSender ? `${wordOf(field).replace(/-address$/, "")}-key-or-address` : wordOf(field);
    return {
      field,
      name,
      isSender,
      form: takesMany(field) ? `[${name}...]` : arg.endsWith("?") ? `[${name}]` : `<${name}>`,
    };
  });
}

/** Coins and parts are one word, separated by commas. */
function takesMany(field: DescField): boolean {
  return field.fieldKind === "list" && !isCoin(field.message) && cliField(field).text !== CliText.PARTS;
}

/** The words of arguments as values of their fields. */
export function readArguments(
  known: readonly Argument[],
  words: readonly string[],
  flags: Flags,
): Record<string, JsonValue> {
  const json: Record<string, JsonValue> = {};
  known.forEach((argument, i) => {
    const { field, isSender } = argument;
    const own = takesMany(field) ? words.slice(i) : words.slice(i, i + 1);
    const values = own.map((word) => readArgument(argument, word, flags));
    const [first] = values;
    if (takesMany(field)) json[field.name] = values;
    else if (first !== undefined && !isSender) json[field.name] = first;
  });
  return json;
}

/** An argument that takes coins takes at least one: an empty list is an error. */
function readArgument({ field, name, isSender }: Argument, word: string, flags: Flags): JsonValue {
  if (isSender) return word;
  if (isCoin(field.message)) {
    const coin = ({ denom, amount }: { denom: string; amount: string }) => ({ denom, amount });
    return field.fieldKind === "list"
      ? coinsArgument(word, name, flags).map(coin)
      : coin(coinArgument(word, name, flags));
  }
  return readValue(field, word, { name: `<${name}>`, profile: flags.profile });
}
