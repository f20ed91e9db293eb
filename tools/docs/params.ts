import type { FileRegistry } from "@bufbuild/protobuf";
import { defaultAppState } from "../../src/node/index.ts";
import { code, page, table } from "./markdown.ts";
import { commentOf } from "./protos.ts";

const INTRO = `Parameters of the modules and their defaults, as \`svc init\` writes them to \`app_state.<module>.params\` of the genesis file.
Later a [vote](../guides/holder.md#vote-and-let-others-act-or-pay-for-you) changes those of a module by the message that its section
names; \`svc query <module> params\` shows those in force. The fixed gas of messages stands with the [messages](messages.md).`;

const GAS = "message_gas";

type Params = Readonly<Record<string, unknown>>;

function paramsOf(): (readonly [module: string, params: Params])[] {
  return Object.entries(defaultAppState()).flatMap(([module, state]) => {
    const params = isRecord(state) ? state.params : undefined;
    return isRecord(params) ? [[module, params] as const] : [];
  });
}

/** The page of parameters, from the first state of a new chain. */
export function paramsPage(registry: FileRegistry): string {
  const sections = paramsOf().flatMap(([module, params]) => {
    const rows = paramRows(params, "").map(([name, value]) => [
      code(name),
      code(value),
      meaning(registry, module, name),
    ]);
    if (rows.length === 0) return [];
    return [
      `## ${module}`,
      `Changed by ${code(changeOf(registry, module))}.`,
      table(["Parameter", "Default", "Meaning"], rows),
    ];
  });
  return page("Parameters", [INTRO, ...sections]);
}

/** Packages of modules with the versions of their messages. */
const PACKAGES = ["svc.%.v1beta1", "sdk.%.v1beta1", "sdk.%.v1"];

/** Type URL of the message by which a vote changes the parameters of a module, as clients of the chain write it. */
function changeOf(registry: FileRegistry, module: string): string {
  const names = PACKAGES.map((each) => `${each.replace("%", module)}.MsgUpdateParams`);
  const name = names.find((each) => registry.getMessage(each) !== undefined);
  if (name === undefined) throw new Error(`no vote changes the parameters of ${module}: the page says so of all`);
  return `/${name.replace(/^sdk\./, "cosmos.")}`;
}

/** Fixed gas of messages by type name. */
export function messageGas(): ReadonlyMap<string, string> {
  const rows = paramsOf().flatMap(([module, params]) => {
    const list = params[GAS];
    return Array.isArray(list) ? list.filter(isRecord).map((row) => [module, row] as const) : [];
  });
  return new Map(rows.map(([module, { message, gas }]) => [`svc.${module}.v1beta1.${message}`, String(gas)]));
}

function paramRows(params: Params, prefix: string): (readonly [name: string, value: string])[] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (name === GAS) return [];
    return isRecord(value) ? paramRows(value, `${prefix}${name}.`) : [[`${prefix}${name}`, show(value)] as const];
  });
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The comment of a parameter in its proto file. */
function meaning(registry: FileRegistry, module: string, name: string): string {
  const namespaces = ["svc", "sdk"].map((namespace) => registry.getMessage(`${namespace}.${module}.v1beta1.Params`));
  let message = namespaces.find((found) => found !== undefined);
  let comment = "";
  for (const part of name.split(".")) {
    const field = message?.fields.find((each) => each.name === part);
    comment = field === undefined ? "" : commentOf(field);
    message = field?.message;
  }
  return comment;
}

function isRecord(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
