import type { DescMessage } from "@bufbuild/protobuf";
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
  if (args.length > 0) return { args: args.map((name) => `<${name}>`).join(" ") };
  return idField(schema) === undefined ? {} : { args: ID_ARGUMENT };
}

/** Numbers below the deployment are 1 where one thing is asked for, and anything in lists. */
function requestFlags(schema: DescMessage, args: readonly string[]): FieldFlag[] {
  const single = idField(schema) !== undefined;
  return fieldFlags(schema, args).map((each) => {
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
    const field = schema.fields.find((each) => each.name === name);
    assert(field !== undefined, `${schema.typeName} has no field ${name}`);
    json[name] = readValue(field, input.args[i] ?? "", { name: `<${name}>`, prefix: flags.profile.bech32Prefix });
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
