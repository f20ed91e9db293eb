import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { fromJson, isObject, type JsonObject, type JsonValue, toJson } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { PAGE_FLAGS, QUERY_FLAGS } from "../global-flags.ts";
import { printResult } from "../output.ts";
import { pageRequest } from "../page.ts";
import type { CommandInput, CommandSpec, FlagSpec, Run } from "../spec.ts";
import { type MethodCommand, methodCommands, nestCommands } from "./commands.ts";
import { type FieldFlag, fieldFlags, idField, isPageRequest } from "./fields.ts";
import { ID_ARGUMENT, idArgument, readFlags, requireId } from "./read.ts";
import { readValue } from "./values.ts";

/** The commands of a module's queries, from the options of its rpcs. */
export function queryCommands(module: string): CommandSpec[] {
  return nestCommands(methodCommands(module, "Query").map(toCommand));
}

function toCommand(command: MethodCommand): CommandSpec {
  const { method, cli } = command;
  const fields = requestFlags(method.input, cli.args);
  return {
    name: cli.command,
    summary: cli.short,
    example: cli.example,
    ...(cli.aliases.length === 0 ? {} : { aliases: cli.aliases }),
    flags: [...fields.map(({ flag }) => flag), ...(isList(method.input) ? PAGE_FLAGS : []), ...QUERY_FLAGS],
    ...argsOf(method.input, cli.args),
    load: async () => run(command, fields),
  };
}

function isList(schema: DescMessage): boolean {
  return schema.fields.some(isPageRequest);
}

function argsOf(schema: DescMessage, args: readonly string[]): { args?: string } {
  if (args.length > 0) return { args: args.map((name) => argForm(fieldOf(schema, name), name)).join(" ") };
  return idField(schema) === undefined ? {} : { args: ID_ARGUMENT };
}

/** A list and what ends in a question mark may be left out. */
function argForm(field: DescField, name: string): string {
  if (field.fieldKind === "list") return `[${field.name}...]`;
  return name.endsWith("?") ? `[${field.name}]` : `<${field.name}>`;
}

function fieldOf(schema: DescMessage, name: string): DescField {
  const field = schema.fields.find((each) => each.name === name.replace("?", ""));
  assert(field !== undefined, `${schema.typeName} has no field ${name}`);
  return field;
}

/** Numbers below the deployment are 1 where one thing is asked for, and anything in lists. */
function requestFlags(schema: DescMessage, args: readonly string[]): FieldFlag[] {
  const single = idField(schema) !== undefined;
  const positional = args.map((name) => fieldOf(schema, name).name);
  return fieldFlags(schema, positional).map((each) => {
    const numbered = single && (each.field.name === "gseq" || each.field.name === "oseq");
    return numbered ? { ...each, flag: { ...each.flag, default: "1" } satisfies FlagSpec } : each;
  });
}

function run({ method, cli }: MethodCommand, fields: readonly FieldFlag[]): Run {
  return async (input: CommandInput) => {
    const request = fromJson(method.input, readRequest(method.input, { input, args: cli.args, fields }));
    const context = createContext(input);
    const { query } = await context.chain();
    const answer = await query.call(method, request, { height: context.height() });
    const json = toJson(method.output, answer);
    printResult(isObject(json) && cli.print !== "" ? (json[cli.print] ?? null) : json, context.output, input.io);
  };
}

interface RequestSource {
  readonly input: CommandInput;
  readonly args: readonly string[];
  readonly fields: readonly FieldFlag[];
}

function readRequest(schema: DescMessage, { input, args, fields }: RequestSource): JsonObject {
  const { flags } = input;
  const json: Record<string, JsonValue> = {};
  const id = idField(schema);
  args.forEach((name, i) => {
    const field = fieldOf(schema, name);
    const words = field.fieldKind === "list" ? input.args.slice(i) : input.args.slice(i, i + 1);
    const source = { name: `<${field.name}>`, prefix: flags.profile.bech32Prefix };
    const values = words.map((text) => readValue(field, text, source));
    const [first] = values;
    if (field.fieldKind === "list") json[field.name] = values;
    else if (first !== undefined) json[field.name] = first;
  });
  if (id !== undefined && input.args[0] !== undefined) {
    json[id.name] = idArgument(id, input.args[0], { flags, fields });
  } else {
    readFlags(json, fields, flags);
    if (id !== undefined) requireId(json[id.name], fields);
  }
  if (isList(schema)) json.pagination = pageRequest(flags);
  return json;
}
