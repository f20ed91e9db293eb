import type { DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { sdkErrors } from "../../util/index.ts";
import { fromJson, isObject, type JsonValue, readBoundedJson } from "../../wire/index.ts";
import { MAX_PARAMETERS } from "./limits.ts";
import type { PathValues, Route } from "./routes.ts";

/** The contents of a request over HTTP besides its route. */
export interface RequestParts {
  readonly values: PathValues;
  /** The text after the question mark. */
  readonly query: string;
  readonly body: string;
}

/** JSON under construction. */
interface Draft {
  [key: string]: JsonValue | Draft;
}

/**
 * The message of a request: proto JSON made of path, query and body, so that each text is read by the rules of its
 * field. Unknown parameters of the query are ignored, as in the reference. Throws `sdkErrors.jsonUnmarshal`, or
 * `sdkErrors.invalidRequest` for too many parameters.
 */
export function requestMessage(
  { method, body: bodyField }: Route,
  { values, query, body }: RequestParts,
): MessageShape<DescMessage> {
  const { input } = method;
  const draft = bodyField === "" ? {} : bodyDraft(bodyField, body);
  // The reader of messages refuses it in its words.
  if (!isDraft(draft)) return fromJson(input, draft);
  if (bodyField !== "*") addQuery(draft, input, { query, except: values });
  for (const [path, text] of values) {
    const place = findField(input, path);
    if (place !== undefined) put(draft, place, textValue(place.field, text));
  }
  return fromJson(input, draft);
}

function bodyDraft(field: string, text: string): Draft | JsonValue {
  const value = text.trim() === "" ? {} : readBoundedJson(text);
  if (field !== "*") return { [field]: value };
  return isObject(value) ? { ...value } : value;
}

/**
 * Parameters of the query: dots lead into messages, repeated names make lists; for other fields the first value counts.
 */
function addQuery(draft: Draft, input: DescMessage, from: { query: string; except: PathValues }): void {
  const seen = new Map<DescField, JsonValue[]>();
  let count = 0;
  for (const [name, text] of new URLSearchParams(from.query)) {
    count += 1;
    if (count > MAX_PARAMETERS) throw sdkErrors.invalidRequest(`the query has more than ${MAX_PARAMETERS} parameters`);
    const place = findField(input, name);
    if (place === undefined || from.except.has(place.path)) continue;
    const { field } = place;
    const before = seen.get(field);
    if (before !== undefined && field.fieldKind !== "list") continue;
    const list = [...(before ?? []), textValue(field, text)];
    seen.set(field, list);
    put(draft, place, field.fieldKind === "list" ? list : (list[0] ?? null));
  }
}

/** A field with the messages that lead to it. */
interface Place {
  readonly field: DescField;
  readonly outer: readonly DescField[];
  /** The names of the proto file with dots between them. */
  readonly path: string;
}

/** The field of a dotted name in either spelling; undefined if text cannot set the field. */
function findField(message: DescMessage, path: string): Place | undefined {
  const outer: DescField[] = [];
  let inside: DescMessage | undefined = message;
  const names = path.split(".");
  for (const [i, name] of names.entries()) {
    const field: DescField | undefined = inside?.fields.find((each) => each.name === name || each.jsonName === name);
    if (field === undefined) return undefined;
    if (i === names.length - 1) return isText(field) ? { field, outer, path: pathOf([...outer, field]) } : undefined;
    outer.push(field);
    inside = field.fieldKind === "message" && !isWellKnown(field.message) ? field.message : undefined;
  }
  return undefined;
}

function pathOf(fields: readonly DescField[]): string {
  return fields.map(({ name }) => name).join(".");
}

/** Scalars, enumerations and lists of them, times and durations. */
function isText(field: DescField): boolean {
  if (field.message !== undefined) return field.fieldKind === "message" && isTime(field.message);
  return field.fieldKind !== "map";
}

function isTime({ typeName }: DescMessage): boolean {
  return typeName === "google.protobuf.Timestamp" || typeName === "google.protobuf.Duration";
}

function isWellKnown({ file }: DescMessage): boolean {
  return file.proto.package === "google.protobuf";
}

function put(draft: Draft, { field, outer }: Place, value: JsonValue): void {
  let at = draft;
  for (const { name } of outer) {
    const inner = at[name];
    const next: Draft = isDraft(inner) ? inner : {};
    at[name] = next;
    at = next;
  }
  at[field.name] = value;
}

function isDraft(value: JsonValue | Draft | undefined): value is Draft {
  return isObject(value);
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);

/** A text of a URL as proto JSON; a text that the field does not take is left to the reader, which refuses it. */
function textValue(field: DescField, text: string): JsonValue {
  if (field.enum !== undefined) return /^\d{1,9}$/.test(text) ? Number(text) : text;
  if (field.scalar === ScalarType.BOOL) return TRUE.has(text) ? true : FALSE.has(text) ? false : text;
  if (field.scalar === ScalarType.BYTES) return plainBase64(text);
  return text;
}

/** Either alphabet, with or without padding; an unescaped plus has become a space by now. */
function plainBase64(text: string): string {
  const plain = text.replaceAll(" ", "+").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  // Nothing but padding is no base64.
  return plain === "" ? text : plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
}
