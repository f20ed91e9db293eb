import { toBase64 } from "../../util/index.ts";
import { AuthInfoSchema, TxBodySchema, TxRawSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  type Any,
  allServices,
  decodeMessage,
  feePayer,
  findMethod,
  findTypeUrl,
  isArray,
  isObject,
  type JsonValue,
  toJson,
  txSigners,
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

async function legacyChange(change: JsonValue): Promise<ParameterChange> {
  const { subspace, key, value } = isObject(change) ? change : {};
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
