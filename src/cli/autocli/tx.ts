import type { DescField, DescMessage } from "@bufbuild/protobuf";
import {
  type Cli,
  decodeAddress,
  encodeAddress,
  fromJson,
  isObject,
  type JsonObject,
  type JsonValue,
  packAny,
  Scalar,
  scalarOf,
  signerPath,
} from "../../wire/index.ts";
import { envName } from "../command/flags.ts";
import { TX_FLAGS } from "../command/global-flags.ts";
import type { NetworkProfile } from "../command/profile.ts";
import type { CommandInput, CommandSpec, Run } from "../command/spec.ts";
import { usageError } from "../errors.ts";
import { runTx } from "../tx/session/run.ts";
import type { TxSession } from "../tx/session/session.ts";
import { type Argument, argumentsOf, readArguments } from "./arguments.ts";
import { groupCommands, type MethodCommand } from "./commands.ts";
import { DEFAULTS } from "./defaults.ts";
import { type FieldFlag, fieldFlags, idField } from "./fields.ts";
import { ID_ARGUMENT, idArgument, readFlags, requireId } from "./read.ts";
import { setPath } from "./values.ts";

/** The commands of a module's messages: those written by hand, and those from the options of its rpcs. */
export function txCommands(module: string, own: readonly CommandSpec[]): CommandSpec[] {
  return groupCommands({ module, service: "Msg", own, toCommand });
}

/** Where the values of a message come from. */
interface MessageSource {
  readonly cli: Cli;
  readonly args: readonly Argument[];
  readonly fields: readonly FieldFlag[];
}

function toCommand({ method: { input: schema }, cli, positional }: MethodCommand): CommandSpec {
  const fields = messageFlags(schema, positional);
  const args = argumentsOf(schema, cli.args);
  const form = args.length > 0 ? args.map((each) => each.form).join(" ") : ID_ARGUMENT;
  return {
    name: cli.command,
    summary: cli.short,
    example: cli.example,
    ...(cli.aliases.length === 0 ? {} : { aliases: cli.aliases }),
    flags: [...fields.map(({ flag }) => flag), ...TX_FLAGS],
    ...(args.length === 0 && idField(schema) === undefined ? {} : { args: form }),
    load: async () => run(schema, { cli, args, fields }),
  };
}

/**
 * The signer is known from `--from`: a part of an id that repeats it may be given as well. Groups and orders default to
 * the first.
 */
function messageFlags(schema: DescMessage, positional: readonly string[]): FieldFlag[] {
  const signer = signerOf(schema);
  return fieldFlags(schema, positional)
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

/** The command line is read before a keyring is opened or a node is queried. */
function run(schema: DescMessage, source: MessageSource): Run {
  return async (input) => {
    const json = readMessage(schema, input, source);
    const sender = source.args.findIndex(({ isSender }) => isSender);
    return runTx(
      input,
      async (session) => {
        await complete(schema, json, { source, session });
        return [packAny(schema, fromJson(schema, json))];
      },
      sender < 0 ? undefined : (input.args[sender] ?? ""),
    );
  };
}

type Values = Record<string, JsonValue>;

function readMessage(schema: DescMessage, { args, flags }: CommandInput, { cli, ...known }: MessageSource): Values {
  const json = readArguments(known.args, args, flags);
  const id = idField(schema);
  const whole = known.args.length === 0 ? args[0] : undefined;
  readFlags(json, id !== undefined && whole !== undefined ? withoutId(known.fields, id) : known.fields, flags);
  if (id !== undefined && whole !== undefined) {
    json[id.name] = idArgument(id, whole, { flags, fields: known.fields });
  }
  checkDistinct(cli, json);
  return json;
}

function withoutId(fields: readonly FieldFlag[], id: DescField): FieldFlag[] {
  return fields.filter(({ path }) => path[0] !== id.name);
}

/** Sets the signer, and the chain's default where the user gave no value. */
async function complete(
  schema: DescMessage,
  json: Values,
  { source: { cli, fields }, session }: { readonly source: MessageSource; readonly session: TxSession },
): Promise<void> {
  setSigner(schema, json, session);
  checkDistinct(cli, json);
  const id = idField(schema);
  if (id !== undefined)
    requireId(
      json[id.name],
      fields.filter(({ path }) => path[0] === id.name),
    );
  await addDefaults(schema, json, session);
}

function setSigner(schema: DescMessage, json: Values, { sender, context }: TxSession): void {
  const path = signerOf(schema).split(".");
  const name = path.at(-1) ?? "";
  const address = signingAddress(schema, sender.address, context.profile);
  const given = path.reduce<JsonValue | undefined>((value, part) => (isObject(value) ? value[part] : undefined), json);
  if (given !== undefined && given !== address) {
    throw usageError(`the ${name} ${String(given)} has to sign, not ${address}`, `give --from the key of the ${name}`);
  }
  setPath(json, path, address);
}

/** The sender as the message names it: a validator by the address of its operator. */
function signingAddress(schema: DescMessage, account: string, { bech32Prefix }: NetworkProfile): string {
  const field = schema.fields.find(({ name }) => name === signerOf(schema));
  if (field === undefined || scalarOf(field) !== Scalar.VALIDATOR_ADDRESS) return account;
  return encodeAddress(decodeAddress(account, "account", bech32Prefix), "valoper", bech32Prefix);
}

function checkDistinct({ distinct }: Cli, json: JsonObject): void {
  if (distinct === undefined) return;
  const { field, other, fault, hint } = distinct;
  const value = json[field];
  if (value !== undefined && value === json[other]) throw usageError(fault, hint === "" ? undefined : hint);
}

/** Amounts that the message needs: from the parameters of the chain where they name one. */
async function addDefaults(schema: DescMessage, json: Values, session: TxSession): Promise<void> {
  for (const field of schema.fields) {
    if (field.fieldKind !== "message" || json[field.name] !== undefined) continue;
    const find = DEFAULTS.get(`${schema.typeName}.${field.name}`);
    if (find === undefined || session.settings.offline) {
      throw usageError(`required flag --${field.name} is not set (or ${envName(field.name)})`);
    }
    json[field.name] = await find(await session.chain());
  }
}
