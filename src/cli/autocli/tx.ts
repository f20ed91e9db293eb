import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import type { ChainClient } from "../../client/index.ts";
import { assert } from "../../util/index.ts";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import {
  type Cli,
  cliField,
  decodeAddress,
  encodeAddress,
  findService,
  fromJson,
  isNeverNull,
  type JsonObject,
  type JsonValue,
  packAny,
  Scalar,
  scalarOf,
  signerPath,
} from "../../wire/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import { envName, type Flags } from "../command/flags.ts";
import { TX_FLAGS } from "../command/global-flags.ts";
import type { NetworkProfile } from "../command/profile.ts";
import type { CommandInput, CommandSpec, Run } from "../command/spec.ts";
import { commandError, usageError } from "../errors.ts";
import { runTx, type TxSession } from "../tx/session/run.ts";
import { type Argument, argumentsOf, readArguments } from "./arguments.ts";
import { groupCommands, type MethodCommand } from "./commands.ts";
import { type FieldFlag, fieldFlags, idField } from "./fields.ts";
import { ID_ARGUMENT, idArgument, readFlags, requireId } from "./read.ts";
import { setPath, valueAt } from "./values/values.ts";

/** The commands of a module's messages: handwritten ones, and those from the options of its rpcs. */
export function txCommands(module: string, own: readonly CommandSpec[]): CommandSpec[] {
  return groupCommands({ module, service: "Msg", own, toCommand });
}

/** The command of an rpc, for another place in the tree. */
export function txCommand(module: string, name: string): CommandSpec {
  const found = txCommands(module, []).find((each) => each.name === name);
  assert(found !== undefined, `no message ${module} ${name}`);
  return found;
}

/** Where the values of a message come from. */
interface MessageSource {
  readonly cli: Cli;
  /** The message of an earlier release, which `--legacy` sends. */
  readonly older: DescMessage | undefined;
  readonly args: readonly Argument[];
  readonly fields: readonly FieldFlag[];
}

function toCommand({ method, cli, positional }: MethodCommand): CommandSpec {
  const schema = method.input;
  const older = olderMessage(method, cli);
  const fields = messageFlags(schema, positional);
  const args = argumentsOf(schema, cli.args);
  const form = args.length > 0 ? args.map((each) => each.form).join(" ") : ID_ARGUMENT;
  return {
    name: cli.command,
    summary: cli.short,
    example: cli.example,
    ...(cli.aliases.length === 0 ? {} : { aliases: cli.aliases }),
    flags: [...fields.map(({ flag }) => flag), ...(older === undefined ? [] : [LEGACY]), ...TX_FLAGS],
    ...(args.length === 0 && idField(schema) === undefined ? {} : { args: form }),
    load: async () => run(schema, { cli, older, args, fields }),
  };
}

/**
 * The signer is known from `--from`: a part of an id that repeats it may be given as well. Groups and orders default to
 * the first.
 */
function messageFlags(schema: DescMessage, positional: readonly string[]): FieldFlag[] {
  const signers = signersOf(schema);
  return fieldFlags(schema, positional)
    .filter(({ path }) => path.length > 1 || !signers.includes(path.join(".")))
    .map((each) => {
      const { name } = each.field;
      if (name === "gseq" || name === "oseq") return { ...each, flag: { ...each.flag, default: "1" } };
      if (!signers.includes(each.path.join("."))) return each;
      return { ...each, flag: { ...each.flag, summary: `${each.flag.summary} (default: the sender)` } };
    });
}

/** The fields that may name the signer: the first one that is not empty does. */
function signersOf(schema: DescMessage): string[] {
  return (signerPath(schema) ?? "").split("|");
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
        const form = input.flags.bool(LEGACY.name) ? (source.older ?? schema) : schema;
        return [packAny(form, fromJson(form, json))];
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
  if (cli.notEmpty) requireChange(known.fields, flags);
  if (known.older !== undefined) requireOlderFields(json, { older: known.older, fields: known.fields, flags });
  addAbsent(json, known.fields);
  checkDistinct(cli, json);
  return json;
}

function requireChange(fields: readonly FieldFlag[], flags: Flags): void {
  if (fields.some(({ flag }) => flags.given(flag.name))) return;
  const [first, second, third] = fields.map(({ flag }) => `--${flag.name}`);
  throw usageError("nothing to change", `give a flag such as ${first}, ${second} or ${third}`);
}

/** Fields with a word for a missing value, such as a description that stays unchanged. */
function addAbsent(json: Values, fields: readonly FieldFlag[]): void {
  for (const { field, path } of fields) {
    const { absent } = cliField(field);
    if (absent !== "" && valueAt(json, path) === undefined) setPath(json, path, absent);
  }
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

/**
 * With two fields, the second defaults to the sender, and the first is set only if the sender is another: the account
 * that pays for an owner's deployment.
 */
function setSigner(schema: DescMessage, json: Values, { sender, context }: TxSession): void {
  const paths = signersOf(schema).map((path) => path.split("."));
  const path = paths.at(-1) ?? [];
  const name = path.at(-1) ?? "";
  const address = signingAddress(schema, sender.address, context.profile);
  const given = valueAt(json, path);
  const isOther = given !== undefined && given !== address;
  const [first = path] = paths;
  if (isOther && first === path) {
    throw usageError(`the ${name} ${String(given)} must sign, not ${address}`, `give --from the key of the ${name}`);
  }
  setPath(json, isOther ? first : path, address);
}

/** The sender as the message names it: a validator by the address of its operator. */
function signingAddress(schema: DescMessage, account: string, { bech32Prefix }: NetworkProfile): string {
  const field = schema.fields.find(({ name }) => signersOf(schema).includes(name));
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
    if (find === undefined && !isNeverNull(field)) continue;
    if (find === undefined || session.settings.offline) {
      throw usageError(`required flag --${field.name} is not set (or ${envName(field.name)})`);
    }
    json[field.name] = await find(await session.chain());
  }
}

/** For messages that an earlier release has in another form. */
const LEGACY: FlagSpec = { name: "legacy", summary: "send the message of releases before 0.46" };

/** The message that chains of an earlier release take in the place of the one of this rpc. */
function olderMessage({ name }: DescMethod, { older }: Cli): DescMessage | undefined {
  if (older === "") return undefined;
  const found = findService(older)?.methods.find((each) => each.name === name);
  assert(found !== undefined, `${older} has no rpc ${name}`);
  return found.input;
}

interface Older {
  readonly older: DescMessage;
  readonly fields: readonly FieldFlag[];
  readonly flags: Flags;
}

/** Refuses values with `--legacy` for which the older message has no field. */
function requireOlderFields(json: JsonObject, { older, fields, flags }: Older): void {
  if (!flags.bool(LEGACY.name)) return;
  const isKnown = (name: string | undefined): boolean => older.fields.some((field) => field.name === name);
  const extra = fields.find(({ path: [name = ""] }) => json[name] !== undefined && !isKnown(name));
  if (extra === undefined) return;
  throw usageError(`--${extra.flag.name} cannot be used with --legacy: the older message has no such field`);
}

/** Values of messages that the parameters of the chain suggest, by message and field. */
export const DEFAULTS: ReadonlyMap<string, (chain: ChainClient) => Promise<JsonObject>> = new Map([
  ["svc.market.v1beta1.MsgCreateBid.deposit", minBidDeposit],
]);

async function minBidDeposit({ query }: ChainClient): Promise<JsonObject> {
  const { params } = await query.call(MarketQuery.method.params, {});
  const [coin] = params?.bidMinDeposits ?? [];
  if (coin === undefined) throw commandError("the chain has no minimum deposit for bids", { hint: "give --deposit" });
  return { denom: coin.denom, amount: coin.amount };
}
