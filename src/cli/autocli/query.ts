import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { type Cli, findService, isObject, type JsonObject, type JsonValue } from "../../wire/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import { PAGE_FLAGS, QUERY_FLAGS } from "../command/global-flags.ts";
import type { CommandInput, CommandSpec, Run } from "../command/spec.ts";
import { type CliContext, createContext } from "../context/context.ts";
import { ask } from "../query/ask.ts";
import { pageRequest } from "../query/page.ts";
import { printResult } from "../terminal/output.ts";
import { type Argument, argumentsOf, readArguments } from "./arguments.ts";
import { groupCommands, type MethodCommand } from "./commands.ts";
import { type FieldFlag, fieldFlags, idField, isPageRequest } from "./fields.ts";
import { ID_ARGUMENT, idArgument, readFlags, requireId } from "./read.ts";
import { readSingle, type Single, singleOf } from "./single.ts";

/** The commands of a module's queries: handwritten ones, and those from the options of its rpcs. */
export function queryCommands(module: string, own: readonly CommandSpec[]): CommandSpec[] {
  return groupCommands({ module, service: "Query", own, toCommand });
}

/** The handler of an rpc's command, for commands of the same rpc elsewhere in the tree. */
export async function loadQuery(module: string, name: string): Promise<Run> {
  const load = queryCommands(module, []).find((each) => each.name === name)?.load;
  assert(load !== undefined, `no query ${module} ${name}`);
  return load();
}

function toCommand(command: MethodCommand): CommandSpec {
  const { method, cli, positional } = command;
  const fields = requestFlags(method.input, positional);
  const args = argumentsOf(method.input, cli.args);
  const single = singleOf(command);
  const flags = [...fields, ...(single?.flag === undefined ? [] : [single.flag])].map(({ flag }) => flag);
  return {
    name: cli.command,
    summary: cli.short,
    example: cli.example,
    ...(cli.aliases.length === 0 ? {} : { aliases: cli.aliases }),
    flags: [...flags, ...(isList(method.input) ? PAGE_FLAGS : []), ...QUERY_FLAGS],
    ...argsForm(method.input, [...args, ...(single?.argument === undefined ? [] : [single.argument])]),
    load: async () => run(command, { args, fields, single }),
  };
}

function isList(schema: DescMessage): boolean {
  return schema.fields.some(isPageRequest);
}

function argsForm(schema: DescMessage, args: readonly Argument[]): { args?: string } {
  if (args.length > 0) return { args: args.map(({ form }) => form).join(" ") };
  return idField(schema) === undefined ? {} : { args: ID_ARGUMENT };
}

/** Numbers below the deployment are 1 by default where one record is queried, and anything in lists. */
function requestFlags(schema: DescMessage, positional: readonly string[]): FieldFlag[] {
  const single = idField(schema) !== undefined;
  return fieldFlags(schema, positional).map((each) => {
    const numbered = single && (each.field.name === "gseq" || each.field.name === "oseq");
    return numbered ? { ...each, flag: { ...each.flag, default: "1" } satisfies FlagSpec } : each;
  });
}

/** Where the values of a request come from. */
interface RequestSource {
  readonly args: readonly Argument[];
  readonly fields: readonly FieldFlag[];
  readonly single: Single | undefined;
}

function run({ method, cli }: MethodCommand, source: RequestSource): Run {
  return async (input: CommandInput) => {
    const { single } = source;
    const request = readRequest(method.input, input, source);
    const one = single && readSingle(single, input, { request, before: source.args.length });
    const context = createContext(input);
    if (single === undefined || one === undefined) {
      printAnswer(await answer(context, method, { cli, request }), cli, { context, input });
    } else {
      printAnswer(await ask(context, single.method, one), { print: single.print, printText: "" }, { context, input });
    }
  };
}

/** Calls the rpc, or on chains that lack it the older one that it replaced. */
async function answer(
  context: CliContext,
  method: DescMethod,
  { cli, request }: { readonly cli: Cli; readonly request: JsonObject },
): Promise<JsonValue> {
  if (cli.older === "") return ask(context, method, request);
  const older = findService(cli.older)?.methods.find(({ name }) => name === method.name);
  assert(older !== undefined, `${cli.older} has no rpc ${method.name}`);
  const { newerOrOlder } = await import("../query/older.ts");
  return newerOrOlder(
    () => ask(context, method, request),
    () => ask(context, older, request),
  );
}

function printAnswer(
  json: JsonValue,
  { print, printText }: Pick<Cli, "print" | "printText">,
  { context: { output }, input: { io } }: { readonly context: CliContext; readonly input: CommandInput },
): void {
  const field = (name: string): JsonValue => (isObject(json) ? (json[name] ?? null) : json);
  if (printText !== "" && output !== "json") io.out(`${String(field(printText))}\n`);
  else printResult(print === "" ? json : field(print), output, io);
}

function readRequest(
  schema: DescMessage,
  input: CommandInput,
  { args, fields }: Pick<RequestSource, "args" | "fields">,
): JsonObject {
  const { flags } = input;
  const json = readArguments(args, input.args, flags);
  const id = idField(schema);
  if (id !== undefined && input.args[0] !== undefined) {
    json[id.name] = idArgument(id, input.args[0], { flags, fields });
  } else {
    readFlags(json, fields, flags);
    if (id !== undefined) requireId(json[id.name], fields);
  }
  if (isList(schema)) json.pagination = pageRequest(flags);
  return json;
}
