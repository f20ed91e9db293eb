import type { DescField } from "@bufbuild/protobuf";
import { errorText } from "../../util/index.ts";
import { cliField, isObject, type JsonObject, type JsonValue } from "../../wire/index.ts";
import { envName, type Flags } from "../command/flags.ts";
import { usageError } from "../errors.ts";
import { type FieldFlag, ID_KINDS } from "./fields.ts";
import { readId, readValue, setPath } from "./values/values.ts";

/** The argument that names one thing whole, instead of a flag for each part. */
export const ID_ARGUMENT = "[id]";

/** Sets the values that flags or the environment give. */
export function readFlags(json: Record<string, JsonValue>, fields: readonly FieldFlag[], flags: Flags): void {
  for (const { flag, field, path } of fields) {
    const value = flagValue(field, flags, flag.name);
    if (value !== undefined) setPath(json, path, value);
  }
}

function flagValue(field: DescField, flags: Flags, name: string): JsonValue | undefined {
  const source = { name: flags.label(name), profile: flags.profile };
  if (field.fieldKind === "list") {
    const texts = flags.list(name);
    return texts.length === 0 ? undefined : texts.map((text) => readValue(field, text, source));
  }
  if (flags.bool(name)) return true;
  const text = flags.optional(name);
  if (text !== undefined) return readValue(field, text, source);
  // Where a word means that no value is given, an empty one empties the field.
  return cliField(field).absent !== "" && flags.given(name) ? "" : undefined;
}

/** The id of a first argument such as `order/<owner>/1/1/1`; flags for its parts must not contradict it. */
export function idArgument(
  field: DescField,
  text: string,
  { flags, fields }: { readonly flags: Flags; readonly fields: readonly FieldFlag[] },
): JsonObject {
  const schema = field.message;
  const parts = fields.filter(({ path }) => path[0] === field.name && path.length > 1);
  const typed = parts.find(({ flag }) => flags.typed(flag.name));
  if (typed !== undefined) throw usageError(`give the id either as an argument or with --${typed.flag.name}, not both`);
  if (schema === undefined) throw usageError("an id was not expected");
  try {
    return readId(schema, text);
  } catch (error) {
    const kind = ID_KINDS.get(schema.typeName) ?? "id";
    throw usageError(errorText(error), `write ${kind}/${parts.map(({ flag }) => `<${flag.name}>`).join("/")}`);
  }
}

/** Checks that all parts of an id are given: zero and an empty text name nothing. */
export function requireId(id: JsonValue | undefined, fields: readonly FieldFlag[]): void {
  for (const { flag, path } of fields) {
    const [, part] = path;
    if (part === undefined) continue;
    const value = isObject(id) ? id[part] : undefined;
    if (value === undefined) throw usageError(`required flag --${flag.name} is not set (or ${envName(flag.name)})`);
    if (value === "0") throw usageError(`--${flag.name}: 0 is not a valid number, numbers begin at 1`);
  }
}
