import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { toBase64 } from "../../util/index.ts";
import { AuthInfoSchema, TxBodySchema, TxRawSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  type Any,
  allMsgs,
  allServices,
  decodeMessage,
  feePayer,
  findMethod,
  findTypeUrl,
  fromJson,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  packAny,
  printJson,
  readJson,
  signerPath,
  toJson,
  txSigners,
  typeUrlOf,
} from "../../wire/index.ts";
import { chain } from "./chain.ts";

/** All that needs to know messages by their names: this module brings the descriptors of every message. */

/** A message of a transaction or a proposal; the content is base64 where its type is not known. */
export interface ReadMessage {
  readonly typeUrl: string;
  readonly content: JsonValue;
}

/** A transaction in words. */
export interface ReadTx {
  readonly messages: readonly ReadMessage[];
  readonly memo: string;
  /** 0 for none. */
  readonly timeoutHeight: bigint;
  /** Empty where a message is not known. */
  readonly signers: readonly string[];
  readonly fee: readonly { readonly denom: string; readonly amount: string }[];
  readonly payer: string | undefined;
}

export function readMessage({ typeUrl, value }: Any): ReadMessage {
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) return { typeUrl, content: toBase64(value) };
  return { typeUrl, content: toJson(schema, decodeMessage(schema, value)) };
}

/** Reads what any chain of the family may have accepted, without its checks. */
export function readTx(bytes: Uint8Array): ReadTx {
  const raw = decodeMessage(TxRawSchema, bytes);
  const body = decodeMessage(TxBodySchema, raw.bodyBytes);
  const { fee } = decodeMessage(AuthInfoSchema, raw.authInfoBytes);
  const signers = signersOf(body.messages, fee);
  return {
    messages: body.messages.map(readMessage),
    memo: body.memo,
    timeoutHeight: body.timeoutHeight,
    signers,
    fee: fee?.amount ?? [],
    payer: feePayer(signers, fee),
  };
}

function signersOf(messages: readonly Any[], fee: Parameters<typeof txSigners>[1]): string[] {
  try {
    const known = messages.map(({ typeUrl, value }) => {
      const schema = findTypeUrl(typeUrl);
      return schema === undefined ? undefined : { schema, value: decodeMessage(schema, value) };
    });
    const whole = known.filter((each) => each !== undefined);
    return whole.length === known.length ? txSigners(whole, fee) : [];
  } catch {
    return [];
  }
}

/** Changes of a proposal whose value in force is asked for. */
const MAX_CHANGES = 200;

/** A parameter that a proposal changes. */
export interface ParameterChange {
  readonly name: string;
  /** In force now; undefined where the chain does not say. */
  readonly before: string | undefined;
  readonly after: string;
}

/** Parameters that a message changes from what is in force; undefined for messages of another kind. */
export async function parameterChanges({
  typeUrl,
  content,
}: ReadMessage): Promise<readonly ParameterChange[] | undefined> {
  if (!isObject(content)) return undefined;
  const [, place] = /^\/(.+)\.MsgUpdateParams$/.exec(typeUrl) ?? [];
  if (place !== undefined) {
    const { authority: _, ...rest } = content;
    const before = flatten(await paramsOf(place));
    const after = flatten(isObject(rest.params) ? rest.params : rest);
    return [...after]
      .filter(([name, value]) => before.get(name) !== value)
      .map(([name, value]) => ({ name: `${place.split(".")[1]}: ${name}`, before: before.get(name), after: value }));
  }
  const legacy = isObject(content.content) ? content.content : content;
  return isArray(legacy.changes) ? Promise.all(legacy.changes.map(legacyChange)) : undefined;
}

async function legacyChange(change: JsonValue, at: number): Promise<ParameterChange> {
  const { subspace, key, value } = isObject(change) ? change : {};
  // The page shows no further changes.
  if (at >= MAX_CHANGES) return { name: `${subspace}: ${key}`, before: undefined, after: String(value) };
  const method = findMethod("/sdk.params.v1beta1.Query/Params");
  const request = { subspace: String(subspace), key: String(key) };
  const found = method === undefined ? {} : toJson(method.output, await chain.query.call(method, request));
  const before = isObject(found) && isObject(found.param) ? found.param.value : undefined;
  return {
    name: `${subspace}: ${key}`,
    before: before === undefined ? undefined : String(before),
    after: String(value),
  };
}

/** Parameters of a module in force, by the package of its messages. */
export async function paramsOf(place: string): Promise<JsonValue> {
  const method = findMethod(`/${place}.Query/Params`);
  if (method === undefined) return {};
  const answer = toJson(method.output, await chain.query.call(method, {}));
  return isObject(answer) && isObject(answer.params) ? answer.params : answer;
}

/** Modules whose parameters can be asked for, with the package of their messages; the newest version of each. */
export function modulesWithParams(): readonly (readonly [name: string, place: string])[] {
  const packages = allServices()
    .filter((service) => service.name === "Query" && service.methods.some(({ name }) => name === "Params"))
    .map(({ file }) => file.proto.package)
    .filter((place) => place !== "sdk.params.v1beta1")
    .sort((a, b) => (a.length === b.length ? (a < b ? -1 : 1) : b.length - a.length));
  const byModule = new Map(packages.map((place) => [place.split(".")[1] ?? place, place]));
  return [...byModule].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Values by their paths, such as `limits.unit_cpu_max`. */
function flatten(value: JsonValue, path = ""): Map<string, string> {
  if (!isObject(value)) return new Map([[path, typeof value === "string" ? value : JSON.stringify(value)]]);
  const within = Object.entries(value).flatMap(([name, each]) => [
    ...flatten(each, path === "" ? name : `${path}.${name}`),
  ]);
  return new Map(within);
}

/** A message that a transaction may carry. */
export interface MessageForm {
  readonly typeUrl: string;
  /** JSON with every field of the message, the signer's filled in. */
  readonly template: string;
  /** Paths of all fields with their types. */
  readonly fields: readonly { readonly path: string; readonly type: string }[];
}

/** Types of the messages that accounts send; governance alone sends the others. */
export function messageTypes(): readonly string[] {
  const all = allMsgs().filter(
    (schema) => signerPath(schema) !== "authority" && !schema.typeName.endsWith("UpdateParams"),
  );
  return [...new Set(all.map((schema) => typeUrlOf(schema)))].sort();
}

/** The form of a message; undefined for a type that is none. */
export function messageForm(typeUrl: string, signer: string): MessageForm | undefined {
  const schema = allMsgs().find((each) => typeUrlOf(each) === typeUrl);
  if (schema === undefined) return undefined;
  const path = (signerPath(schema) ?? "").split("|").at(-1) ?? "";
  const template = withText(emptyJson(schema, 0), path.split("."), signer);
  return { typeUrl, template: printJson(template, { indent: 2 }), fields: fieldPaths(schema, "", 0) };
}

/** The message of a JSON text, with its content as it will be signed. Throws a sentence with the place of a fault. */
export function typedMessage(typeUrl: string, text: string): { readonly any: Any; readonly content: JsonValue } {
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) throw new Error(typeUrl);
  const any = packAny(schema, fromJson(schema, readJson(text)));
  return { any, content: readMessage(any).content };
}

/** Levels of messages within messages that a form shows. */
const FORM_LEVELS = 4;
const WELL_KNOWN = /^google\.protobuf\./;

/** JSON with the defaults of every field that is no choice between several. */
function emptyJson({ fields }: DescMessage, level: number): JsonObject {
  const shown = fields.filter(({ oneof }) => oneof === undefined);
  return Object.fromEntries(shown.map((field) => [field.name, emptyField(field, level)]));
}

function emptyField(field: DescField, level: number): JsonValue {
  if (field.fieldKind === "list" || field.fieldKind === "map") return field.fieldKind === "list" ? [] : {};
  if (field.fieldKind === "enum") return field.enum.values[0]?.name ?? 0;
  if (field.fieldKind === "scalar") return emptyScalar(field.scalar);
  const isShown = level < FORM_LEVELS && !WELL_KNOWN.test(field.message.typeName);
  return isShown ? emptyJson(field.message, level + 1) : null;
}

/** Numbers of 64 bits are texts in JSON. */
function emptyScalar(type: ScalarType): JsonValue {
  const name = ScalarType[type];
  if (name === "BOOL") return false;
  if (name === "STRING" || name === "BYTES") return "";
  return /64$/.test(name) ? "0" : 0;
}

function withText(json: JsonObject, [name = "", ...rest]: readonly string[], text: string): JsonObject {
  const inner = json[name];
  if (rest.length === 0 || !isObject(inner)) return name in json ? { ...json, [name]: text } : json;
  return { ...json, [name]: withText(inner, rest, text) };
}

function fieldPaths({ fields }: DescMessage, before: string, level: number): MessageForm["fields"] {
  return fields.flatMap((field) => {
    const path = `${before}${field.name}${field.fieldKind === "list" ? "[]" : ""}`;
    const inner = field.message;
    const isShown = inner !== undefined && level < FORM_LEVELS && !WELL_KNOWN.test(inner.typeName);
    const row = { path, type: typeName(field) };
    return isShown ? [row, ...fieldPaths(inner, `${path}.`, level + 1)] : [row];
  });
}

function typeName({ message, enum: values, scalar }: DescField): string {
  if (message !== undefined) return message.typeName;
  if (values !== undefined) return values.values.map(({ name }) => name).join(" | ");
  return scalar === undefined ? "" : ScalarType[scalar].toLowerCase();
}
