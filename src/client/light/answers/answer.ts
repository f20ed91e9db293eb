import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { decodeMessage, encodeMessage } from "../../../wire/index.ts";
import { clientErrors } from "../../errors.ts";
import type { ProvenState } from "../state.ts";

/** The answer of an rpc from proven values of the state. */
export interface ProvenAnswer {
  readonly method: DescMethod;
  /** Bytes of the answer to a request's bytes; undefined if this request cannot be proven. */
  readonly answer: (state: ProvenState, request: Uint8Array) => Promise<Uint8Array | undefined>;
}

export function provenAnswer<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  make: (state: ProvenState, request: MessageShape<I>) => Promise<MessageInitShape<O> | undefined>,
): ProvenAnswer {
  const input: I = method.input;
  const output: O = method.output;
  return {
    method,
    answer: async (state, request) => {
      const made = await make(state, decodeMessage(input, request));
      return made === undefined ? undefined : encodeMessage(output, create(output, made));
    },
  };
}

/** A record of a store; a message with only default values is stored as a zero byte. */
export function record<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
  const isEmpty = bytes.length === 1 && bytes[0] === 0;
  return decodeMessage(schema, isEmpty ? new Uint8Array() : bytes, clientErrors.badAnswer);
}

/** The record under a key, or undefined. */
export async function findRecord<D extends DescMessage>(
  state: ProvenState,
  schema: D,
  { store, key }: { readonly store: string; readonly key: Uint8Array },
): Promise<MessageShape<D> | undefined> {
  const bytes = await state.get(store, key);
  return bytes === undefined ? undefined : record(schema, bytes);
}
