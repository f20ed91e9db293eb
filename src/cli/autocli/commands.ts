import type { DescMethod } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { allServices, type Cli, cliOption } from "../../wire/index.ts";
import type { CommandSpec } from "../spec.ts";

/** Services of rpcs that are commands: `svc query <module>` and `svc tx <module>`. */
export type ServiceName = "Query" | "Msg";

/** An rpc with what its options say of its command. */
export interface MethodCommand {
  readonly method: DescMethod;
  readonly cli: Cli;
}

const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  group: "Groups of a deployment",
  order: "Orders, which providers bid on",
  bid: "Bids of providers",
  lease: "Leases between tenants and providers",
};

/** The rpcs of a module's service that are commands and are not written by hand. */
export function methodCommands(module: string, service: ServiceName): MethodCommand[] {
  return allServices()
    .filter(({ name, typeName }) => name === service && typeName.split(".")[1] === module)
    .flatMap(({ methods }) => methods)
    .flatMap((method) => {
      const cli = cliOption(method);
      assert(cli !== undefined, `${method.parent.typeName}/${method.name} has no cli option`);
      return cli.skip ? [] : [{ method, cli }];
    });
}

/** Puts commands of several words ("order list") under groups of their first word. */
export function nestCommands(commands: readonly CommandSpec[]): CommandSpec[] {
  const nested: CommandSpec[] = [];
  const groups = new Map<string, CommandSpec[]>();
  for (const command of commands) {
    const [first = "", ...rest] = command.name.split(" ");
    if (rest.length === 0) {
      nested.push(command);
      continue;
    }
    const children = groups.get(first) ?? [];
    if (!groups.has(first)) nested.push(groupOf(first, children));
    groups.set(first, children);
    children.push({ ...command, name: rest.join(" ") });
  }
  return nested;
}

function groupOf(name: string, children: readonly CommandSpec[]): CommandSpec {
  return { name, summary: GROUP_SUMMARIES[name] ?? name, commands: async () => nestCommands(children) };
}
