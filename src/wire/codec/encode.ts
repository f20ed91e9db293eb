import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { errorText } from "../../util/index.ts";
import { type FieldPlan, type Fields, type OneofValue, planFields } from "./fields.ts";
import { LENGTH_DELIMITED } from "./reader.ts";
import { BackwardWriter } from "./writer.ts";

interface Encoder {
  readonly schema: DescMessage;
  /** Highest number first, because the writer works backwards. */
  readonly fields: readonly FieldPlan[];
}

const encoders = new WeakMap<DescMessage, Encoder>();
const writer = new BackwardWriter();

/**
 * The canonical bytes of a message: fields in ascending order, defaults left out, shortest varints. Throws one
 * sentence naming the field whose value does not fit.
 */
export function encodeMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): Uint8Array;
export function encodeMessage(schema: DescMessage, message: Fields): Uint8Array {
  try {
    writeMessage(encoderOf(schema), message);
    return writer.finish();
  } finally {
    writer.reset();
  }
}

function encoderOf(schema: DescMessage): Encoder {
  let encoder = encoders.get(schema);
  if (encoder === undefined) {
    encoder = { schema, fields: planFields(schema).reverse() };
    encoders.set(schema, encoder);
  }
  return encoder;
}

function writeMessage(encoder: Encoder, message: Fields): void {
  for (const plan of encoder.fields) {
    const value = fieldValue(plan, message);
    if (value === undefined) continue;
    try {
      if (plan.repeated) writeList(plan, value as readonly unknown[]);
      else if (plan.explicit || plan.scalar?.isDefault(value) === false) writeValue(plan, value);
    } catch (cause) {
      throw new Error(`${encoder.schema.name}.${plan.name}: ${errorText(cause)}`, { cause });
    }
  }
}

function fieldValue(plan: FieldPlan, message: Fields): unknown {
  const value = message[plan.property];
  if (!plan.inOneof) return value;
  const chosen = value as OneofValue | undefined;
  return chosen?.case === plan.case ? chosen.value : undefined;
}

function writeList(plan: FieldPlan, values: readonly unknown[]): void {
  if (plan.packed) writePacked(plan, values);
  else for (let i = values.length - 1; i >= 0; i--) writeValue(plan, values[i]);
}

function writePacked(plan: FieldPlan, values: readonly unknown[]): void {
  if (values.length === 0) return;
  const before = writer.written;
  for (let i = values.length - 1; i >= 0; i--) plan.scalar?.write(writer, values[i]);
  writer.uint32(writer.written - before);
  writer.uint32(plan.number * 8 + LENGTH_DELIMITED);
}

function writeValue(plan: FieldPlan, value: unknown): void {
  if (plan.message === undefined) plan.scalar?.write(writer, value);
  else {
    const before = writer.written;
    writeMessage(encoderOf(plan.message), value as Fields);
    writer.uint32(writer.written - before);
  }
  writer.uint32(plan.tag);
}
