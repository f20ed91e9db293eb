import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { fromJson, isObject, type JsonObject, type JsonValue, packAny, signerPath } from "../../wire/index.ts";
import { usageError } from "../errors.ts";
import { envName } from "../flags.ts";
import { TX_FLAGS } from "../global-flags.ts";
import type { CommandInput, CommandSpec, Run } from "../spec.ts";
import { runTx } from "../tx/run.ts";
import type { TxSession } from "../tx/session.ts";
import { type MethodCommand, methodCommands, nestCommands } from "./commands.ts";
import { DEFAULTS } from "./defaults.ts";
import { type FieldFlag, fieldFlags, idField } from "./fields.ts";
import { ID_ARGUMENT, idArgument, readFlags, requireId } from "./read.ts";
import { setPath } from "./values.ts";

/** The commands of a module's messages, from the options of its rpcs. */
export function txCommands(module: string): CommandSpec[] {
  return nestCommands(methodCommands(module, "Msg").map(toCommand));
}

function toCommand(command: MethodCommand): CommandSpec {
  const { method, cli } = command;
  const fields = messageFlags(method.input);
  return {
    name: cli.command,
    summary: cli.short,
    example: cli.example,
    flags: [...fields.map(({ flag }) => flag), ...TX_FLAGS],
    ...(idField(method.input) === undefined ? {} : { args: ID_ARGUMENT }),
    load: async () => run(method.input, fields),
  };
}

/**
 * Whoever signs is known from `--from`: a part of an id that says the same may be given as well. Groups and orders are
 * the first unless something else is said.
 */
function messageFlags(schema: DescMessage): FieldFlag[] {
  const signer = signerOf(schema);
  return fieldFlags(schema)
    .filter(({ path }) => path.length > 1 || path.join(".") !== signer)
    .map((each) => {
      const { name } = each.field;
      if (name === "gseq" || name === "oseq") return { ...each, flag: { ...each.flag, default: "1" } };
      if (each.path.join(".") !== signer) return each;
      return { ...each, flag: { ...each.flag, summary: `${each.flag.summary} (default: the sender)` } };
    });
}

function signerOf(schema: DescMessage): string {
  return signerPath(schema) ?? "";
}

function run(schema: DescMessage, fields: readonly FieldFlag[]): Run {
  return (input) =>
    runTx(input, async (session) => {
      const json = await readMessage(schema, { input, fields, session });
      return [packAny(schema, fromJson(schema, json))];
    });
}

interface MessageSource {
  readonly input: CommandInput;
  readonly fields: readonly FieldFlag[];
  readonly session: TxSession;
}

async function readMessage(schema: DescMessage, { input, fields, session }: MessageSource): Promise<JsonObject> {
  const { args, flags } = input;
  const json: Record<string, JsonValue> = {};
  const id = idField(schema);
  readFlags(json, id !== undefined && args[0] !== undefined ? withoutId(fields, id) : fields, flags);
  if (id !== undefined && args[0] !== undefined) json[id.name] = idArgument(id, args[0], { flags, fields });
  setSigner(json, signerOf(schema).split("."), session.sender.address);
  if (id !== undefined)
    requireId(
      json[id.name],
      fields.filter(({ path }) => path[0] === id.name),
    );
  await addDefaults(schema, json, session);
  return json;
}

function withoutId(fields: readonly FieldFlag[], id: DescField): FieldFlag[] {
  return fields.filter(({ path }) => path[0] !== id.name);
}

function setSigner(json: Record<string, JsonValue>, path: readonly string[], address: string): void {
  const name = path.at(-1) ?? "";
  const given = path.reduce<JsonValue | undefined>((value, part) => (isObject(value) ? value[part] : undefined), json);
  if (given !== undefined && given !== address) {
    throw usageError(`the ${name} ${String(given)} has to sign, not ${address}`, `give --from the key of the ${name}`);
  }
  setPath(json, path, address);
}

/** Amounts that the message needs: from the parameters of the chain where they say one. */
async function addDefaults(schema: DescMessage, json: Record<string, JsonValue>, session: TxSession): Promise<void> {
  for (const field of schema.fields) {
    if (field.fieldKind !== "message" || json[field.name] !== undefined) continue;
    const find = DEFAULTS.get(`${schema.typeName}.${field.name}`);
    if (find === undefined || session.settings.offline) {
      throw usageError(`required flag --${field.name} is not set (or ${envName(field.name)})`);
    }
    json[field.name] = await find(await session.chain());
  }
}
