import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isNeverNull, type JsonObject, type JsonValue, Scalar, scalarOf } from "../../../wire/index.ts";

/** JSON schemas of messages, each under the name of its type, with the schemas that they refer to. */
export class Schemas {
  readonly #known = new Map<string, JsonObject>();

  /** Every requested schema, and the schemas that they refer to. */
  get all(): JsonObject {
    return Object.fromEntries([...this.#known].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A reference to the schema of a message. */
  message(message: DescMessage): JsonObject {
    const special = SPECIAL.get(message.typeName);
    if (special !== undefined) return special;
    if (!this.#known.has(message.typeName)) {
      this.#known.set(message.typeName, {});
      this.#known.set(message.typeName, this.#object(message));
    }
    return { $ref: `#/components/schemas/${message.typeName}` };
  }

  #object(message: DescMessage): JsonObject {
    const properties = message.fields.map((field) => [field.name, this.#field(field)] as const);
    return { type: "object", properties: Object.fromEntries(properties) };
  }

  #field(field: DescField): JsonObject {
    if (field.fieldKind === "list") return { type: "array", items: this.#value(field) };
    const value = this.#value(field);
    return canBeNull(field) ? orNull(value) : value;
  }

  #value(field: DescField): JsonObject {
    return field.message === undefined ? textSchema(field) : this.message(field.message);
  }
}

/** The schema of a scalar or an enumeration, also as a parameter. */
export function textSchema(field: DescField): JsonObject {
  if (field.enum !== undefined) return enumSchema(field.enum);
  return scalarSchema(field.scalar, scalarOf(field));
}

const SPECIAL: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["google.protobuf.Timestamp", { type: "string", format: "date-time" }],
  ["google.protobuf.Duration", { type: "string", example: "3600s" }],
  [
    "google.protobuf.Any",
    { type: "object", properties: { "@type": { type: "string" } }, required: ["@type"], additionalProperties: true },
  ],
]);

/** Messages that are not set and bytes that are empty are shown as null. */
function canBeNull(field: DescField): boolean {
  if (field.message !== undefined) return !isNeverNull(field);
  return field.scalar === ScalarType.BYTES;
}

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: "null" }] };
}

function enumSchema({ values }: DescEnum): JsonObject {
  return { type: "string", enum: values.map(({ name }): JsonValue => name) };
}

const INTEGERS: ReadonlyMap<ScalarType, JsonObject> = new Map<ScalarType, JsonObject>([
  [ScalarType.INT32, { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }],
  [ScalarType.UINT32, { type: "integer", format: "int64", minimum: 0, maximum: 2 ** 32 - 1 }],
  [ScalarType.INT64, { type: "string", format: "int64", pattern: "^-?(0|[1-9][0-9]{0,18})$" }],
  [ScalarType.SFIXED64, { type: "string", format: "int64", pattern: "^-?(0|[1-9][0-9]{0,18})$" }],
  [ScalarType.UINT64, { type: "string", format: "uint64", pattern: "^(0|[1-9][0-9]{0,19})$" }],
]);

function scalarSchema(type: ScalarType | undefined, meaning: Scalar): JsonObject {
  if (type === ScalarType.BOOL) return { type: "boolean" };
  const isNumber = meaning !== Scalar.UNSPECIFIED;
  if (type === ScalarType.BYTES && !isNumber) return { type: "string", format: "byte" };
  return INTEGERS.get(type ?? ScalarType.STRING) ?? { type: "string" };
}
