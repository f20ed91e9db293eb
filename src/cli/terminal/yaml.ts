import { isPrintable, printable } from "../../util/index.ts";
import { isArray, isObject, type JsonValue } from "../../wire/index.ts";

/**
 * JSON as YAML text in the layout of the ecosystem's tools: keys in alphabetical order, lists at the indentation of
 * their key, texts that would parse as something else in quotes.
 */
export function printYaml(value: JsonValue): string {
  if (isScalar(value)) return `${scalar(value)}\n`;
  return `${block(value, "").join("\n")}\n`;
}

type Scalar = string | number | boolean | null | readonly [] | Readonly<Record<string, never>>;

/** Whether a value fits on one line: empty lists and objects do. */
function isScalar(value: JsonValue): value is Scalar {
  if (isArray(value)) return value.length === 0;
  return !isObject(value) || Object.keys(value).length === 0;
}

function block(value: JsonValue, indent: string): string[] {
  if (isArray(value)) return value.flatMap((item) => listItem(item, indent));
  if (!isObject(value)) return [];
  return Object.keys(value)
    .sort()
    .flatMap((key) => entry(key, value[key] ?? null, indent));
}

function entry(key: string, value: JsonValue, indent: string): string[] {
  const name = `${indent}${text(key)}:`;
  if (isScalar(value)) return [`${name} ${scalar(value)}`];
  return [name, ...block(value, isArray(value) ? indent : `${indent}  `)];
}

function listItem(item: JsonValue, indent: string): string[] {
  if (isScalar(item)) return [`${indent}- ${scalar(item)}`];
  const [first = "", ...rest] = block(item, `${indent}  `);
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
}

function scalar(value: Scalar): string {
  if (typeof value === "string") return text(value);
  return isArray(value) ? "[]" : typeof value === "object" && value !== null ? "{}" : String(value);
}

const WORDS = /^(?:~|null|true|false|yes|no|on|off|y|n|<<|=|\.nan|[-+]?\.inf)$/i;
const NUMBERS =
  /^[-+]?(?:0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+|(?:[0-9][0-9_]*(?::[0-5]?[0-9])*)?(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?)$/i;
const DATES = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt \t])/;
const INDICATORS = /^(?:[,[\]{}#&*!|>'"%@`]|[-?:](?:\s|$))|^(?:---|\.\.\.)|: |:$| #|^\s|\s$/;

function text(value: string): string {
  if (value === "" || WORDS.test(value) || NUMBERS.test(value) || DATES.test(value)) return JSON.stringify(value);
  // JSON's escapes are valid in YAML too.
  if (!isPrintable(value)) return printable(JSON.stringify(value));
  return INDICATORS.test(value) ? `'${value.replaceAll("'", "''")}'` : value;
}
