import type { DescMethod } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import type { Cli, JsonObject, JsonValue } from "../../wire/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import type { CommandInput } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { type Argument, argumentsOf, readArguments } from "./arguments.ts";
import type { MethodCommand } from "./commands.ts";
import { type FieldFlag, fieldFlags } from "./fields.ts";
import { readFlags } from "./read.ts";

/** The rpc that a query asks instead where one more field is given: one record instead of all. */
export interface Single {
  readonly method: DescMethod;
  readonly argument?: Argument;
  readonly flag?: FieldFlag;
  /** Field of the response that is printed; the whole response if empty. */
  readonly print: string;
}

/** The single form of a query, if its options have one. */
export function singleOf({ method, cli }: MethodCommand): Single | undefined {
  const { single } = cli;
  if (single === undefined) return undefined;
  const found = method.parent.methods.find(({ name }) => name === single.rpc);
  assert(found !== undefined, `${method.parent.typeName} has no rpc ${single.rpc}`);
  const [argument] = single.argument ? argumentsOf(found.input, [`${single.field}?`]) : [];
  const flag = single.flag === "" ? undefined : flagOf(found, single);
  assert(argument !== undefined || flag !== undefined, `${single.rpc}: neither an argument nor a flag sets its field`);
  return {
    method: found,
    print: single.print,
    ...(argument === undefined ? {} : { argument }),
    ...(flag === undefined ? {} : { flag }),
  };
}

function flagOf({ input }: DescMethod, { field, flag: summary }: NonNullable<Cli["single"]>): FieldFlag {
  const found = fieldFlags(input).find(({ path }) => path.join(".") === field);
  assert(found !== undefined, `${input.typeName} has no field ${field}`);
  return { ...found, flag: { ...found.flag, summary } satisfies FlagSpec };
}

/**
 * The request of the single rpc, with the fields of `request` that it has too; undefined if its own field is not given.
 */
export function readSingle(
  { method, argument, flag }: Single,
  { args, flags }: CommandInput,
  { request, before }: { readonly request: JsonObject; readonly before: number },
): JsonObject | undefined {
  const own: Record<string, JsonValue> = {};
  const word = args[before];
  if (argument !== undefined && word !== undefined) {
    if (flag !== undefined && flags.typed(flag.flag.name)) {
      throw usageError(`give <${argument.name}> once: as the argument or with --${flag.flag.name}`);
    }
    Object.assign(own, readArguments([argument], [word], flags));
  } else if (flag !== undefined) {
    readFlags(own, [flag], flags);
  }
  if (Object.keys(own).length === 0) return undefined;
  const shared = Object.entries(request).filter(([name]) => method.input.fields.some((field) => field.name === name));
  return { ...Object.fromEntries(shared), ...own };
}
