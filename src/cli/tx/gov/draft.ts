import { create, type DescMessage } from "@bufbuild/protobuf";
import { moduleAddress } from "../../../crypto/index.ts";
import { formatCoins } from "../../../util/index.ts";
import { Query as GovQuery } from "../../../wire/gen/sdk/gov/v1/query_pb.js";
import {
  allMsgs,
  encodeAddress,
  findMethod,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  printJson,
  signerPath,
  toJson,
  toNamespace,
  typeUrlOf,
} from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
import { ask } from "../../query/ask.ts";

const MAX_SHOWN = 8;
const HOW = "write a name such as MsgCommunityPoolSpend, or a type URL such as /sdk.staking.v1beta1.MsgUpdateParams";

/**
 * `tx gov draft-proposal [MESSAGE]`: prints a file for `submit-proposal`. The deposit is the minimum that opens the
 * vote, the signer is the account of governance, and parameters are the current ones: `MsgUpdateParams` replaces all of
 * them.
 */
export async function govDraftProposal(input: CommandInput): Promise<void> {
  const [name] = input.args;
  const schema = name === undefined ? undefined : findMsg(name, input.flags);
  const context = createContext(input);
  const messages = schema === undefined ? [] : [await draftMessage(schema, context, input.flags)];
  const metadata = schema === undefined ? "A link to more about it, or the text itself" : "";
  const proposal = {
    messages,
    metadata,
    deposit: await leastDeposit(context),
    title: "The title of the proposal",
    summary: "What it is for, in a sentence or two",
    expedited: false,
  };
  input.io.out(`${printJson(proposal, { indent: 2 })}\n`);
}

/** The message of a type URL in either spelling, of a full name, or of a unique last part. */
function findMsg(name: string, { profile }: Flags): DescMessage {
  const wanted = toNamespace(name.replace(/^\//, ""), "sdk");
  const found = allMsgs().filter(({ typeName }) => typeName === wanted || typeName.endsWith(`.${wanted}`));
  const [only] = found;
  if (only === undefined) throw usageError(`"${name.slice(0, 128)}" is not the name of a message`, HOW);
  if (found.length === 1) return only;
  const types = found.slice(0, MAX_SHOWN).map((each) => typeUrlOf(each, profile.namespace));
  const more = found.length > MAX_SHOWN ? ", ..." : "";
  throw usageError(`${found.length} messages are called "${wanted}"`, `choose one: ${types.join(", ")}${more}`);
}

async function draftMessage(schema: DescMessage, context: CliContext, { profile }: Flags): Promise<JsonObject> {
  const fields = toJson(schema, create(schema), { namespace: profile.namespace });
  if (!isObject(fields)) throw usageError(`${schema.typeName} cannot be part of a proposal`, HOW);
  const authority = encodeAddress(moduleAddress("gov"), "account", profile.bech32Prefix);
  const [signer = ""] = (signerPath(schema) ?? "").split("|");
  const signed = replace(fields, signer.split("."), authority);
  return { "@type": typeUrlOf(schema, profile.namespace), ...signed, ...(await presentParams(schema, context)) };
}

/** The same object with one value changed, some levels down; unchanged where the value is in an item of a list. */
function replace(object: JsonObject, [first, ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (first === undefined || first === "") return object;
  const inner = object[first];
  if (isArray(inner)) return object;
  return { ...object, [first]: rest.length === 0 ? value : replace(isObject(inner) ? inner : {}, rest, value) };
}

/** The current parameters of a module, if the message replaces them. */
async function presentParams(schema: DescMessage, context: CliContext): Promise<JsonObject> {
  const method = findMethod(`/${schema.file.proto.package}.Query/Params`);
  if (schema.name !== "MsgUpdateParams" || method === undefined) return {};
  const answer = await ask(context, method, {});
  const params = isObject(answer) ? answer.params : undefined;
  if (!isObject(params)) return {};
  const has = (name: string): boolean => schema.fields.some((field) => field.name === name);
  return has("params") ? { params } : Object.fromEntries(Object.entries(params).filter(([name]) => has(name)));
}

async function leastDeposit(context: CliContext): Promise<string> {
  const { query } = await context.chain();
  const { params } = await query.call(GovQuery.method.params, { paramsType: "deposit" });
  return formatCoins((params?.minDeposit ?? []).map(({ denom, amount }) => ({ denom, amount: BigInt(amount) })));
}
