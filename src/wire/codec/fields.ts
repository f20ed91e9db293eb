import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { int32Codec, type ScalarCodec, scalarCodec } from "./numbers.ts";
import { LENGTH_DELIMITED } from "./reader.ts";

/** A message as the codec sees it: properties by the names of the generated types. */
export type Fields = Record<string, unknown>;

/** One member of a `oneof`: the property holds `{ case, value }`. */
export interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** Facts about a field that the codec needs, computed once. */
export interface FieldPlan {
  readonly name: string;
  readonly number: number;
  /** Property of the message: the field's own, or the one of its `oneof`. */
  readonly property: string;
  readonly inOneof: boolean;
  readonly repeated: boolean;
  readonly packed: boolean;
  /** Written even when it has the default value. */
  readonly explicit: boolean;
  /** Bit of the singular property, for the check on repetition. */
  readonly bit: number;
  readonly scalar: ScalarCodec | undefined;
  readonly message: DescMessage | undefined;
  /** Numbers of the enum. */
  readonly known: ReadonlySet<unknown> | undefined;
  /** Wire type of a value, and its tag. */
  readonly wireType: number;
  readonly tag: number;
  /** Name of the property's case when it is in a `oneof`. */
  readonly case: string;
}

const MAX_SINGULAR = 31;
const IMPLICIT_PRESENCE = 2;

export function planFields(schema: DescMessage): FieldPlan[] {
  const bits = new Map<string, number>();
  const plans = schema.fields.map((field) => planField(field, bits));
  if (bits.size > MAX_SINGULAR) throw new Error(`${schema.typeName} has more than ${MAX_SINGULAR} singular fields`);
  return plans.sort((a, b) => a.number - b.number);
}

function planField(field: DescField, bits: Map<string, number>): FieldPlan {
  const repeated = field.fieldKind === "list";
  const property = field.oneof?.localName ?? field.localName;
  if (!repeated && !bits.has(property)) bits.set(property, bits.size);
  const scalar = valueCodec(field);
  const packed = field.fieldKind === "list" && field.packed;
  const wireType = scalar?.wireType ?? LENGTH_DELIMITED;
  return {
    name: field.name,
    number: field.number,
    property,
    inOneof: field.oneof !== undefined,
    repeated,
    packed,
    explicit: field.oneof !== undefined || field.presence !== IMPLICIT_PRESENCE,
    bit: repeated ? 0 : 1 << (bits.get(property) ?? 0),
    scalar,
    message: field.message,
    known: field.enum === undefined ? undefined : new Set(field.enum.values.map((value) => value.number)),
    wireType,
    tag: field.number * 8 + (packed ? LENGTH_DELIMITED : wireType),
    case: field.localName,
  };
}

function valueCodec(field: DescField): ScalarCodec | undefined {
  if (field.fieldKind === "map") throw new Error(`${field.parent.typeName}.${field.name}: maps have no fixed order`);
  if (field.enum !== undefined) return int32Codec;
  return field.scalar === undefined ? undefined : scalarCodec(field.scalar);
}

/** The value of an absent singular field; absent messages and explicit fields have none. */
export function zeroValue(plan: FieldPlan): unknown {
  if (plan.scalar === undefined || plan.explicit) return undefined;
  return plan.scalar === scalarCodec(ScalarType.BYTES) ? new Uint8Array() : plan.scalar.zero;
}
