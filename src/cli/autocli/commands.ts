import type { DescMethod } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { type Cli, cliGroup, cliOption, moduleServices } from "../../wire/index.ts";
import type { CommandSpec } from "../command/spec.ts";

/** Services of rpcs that are commands: `svc query <module>` and `svc tx <module>`. */
export type ServiceName = "Query" | "Msg";

/** An rpc with the options of one of its commands. */
export interface MethodCommand {
  readonly method: DescMethod;
  readonly cli: Cli;
  /** Fields that are arguments of any command of the rpc: none of them is a flag. */
  readonly positional: readonly string[];
}

/** The sources of a group's commands. */
export interface GroupSource {
  readonly module: string;
  readonly service: ServiceName;
  /** Commands written by hand; they come first. */
  readonly own: readonly CommandSpec[];
  readonly toCommand: (command: MethodCommand) => CommandSpec;
}

/** The commands of a module: first the handwritten ones, then one for each rpc that its options do not skip. */
export function groupCommands({ module, service, own, toCommand }: GroupSource): CommandSpec[] {
  const services = moduleServices(module).filter(({ name }) => name === service);
  const words = new Map(
    services.flatMap((each) => cliGroup(each)?.words ?? []).map(({ word, short }) => [word, short]),
  );
  const made = services.flatMap(({ methods }) => methods).flatMap(methodCommands);
  return nestCommands([...own, ...made.map(toCommand)], words);
}

function methodCommands(method: DescMethod): MethodCommand[] {
  const cli = cliOption(method);
  assert(cli !== undefined, `${method.parent.typeName}/${method.name} has no cli option`);
  if (cli.skip) return [];
  const all = [cli, ...cli.more];
  const positional = all.flatMap(({ args }) => args.map(fieldName));
  return all.map((each) => ({ method, cli: each, positional }));
}

/** The field of an argument; a question mark says that it may be left out. */
export function fieldName(arg: string): string {
  return arg.replace("?", "");
}

/** Puts commands of several words ("order list") under groups of their first word. */
function nestCommands(commands: readonly CommandSpec[], words: ReadonlyMap<string, string>): CommandSpec[] {
  const nested: CommandSpec[] = [];
  const groups = new Map<string, CommandSpec[]>();
  for (const command of commands) {
    const [first = "", ...rest] = command.name.split(" ");
    if (rest.length === 0) {
      nested.push(command);
      continue;
    }
    const children = groups.get(first) ?? [];
    if (!groups.has(first)) {
      nested.push({
        name: first,
        summary: words.get(first) ?? first,
        commands: async () => nestCommands(children, words),
      });
    }
    groups.set(first, children);
    children.push({ ...command, name: rest.join(" ") });
  }
  return nested;
}
