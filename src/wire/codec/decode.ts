import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { defineErrors } from "../../util/index.ts";
import { type FieldPlan, type Fields, planFields, zeroValue } from "./fields.ts";
import { LENGTH_DELIMITED, type WireReader } from "./reader.ts";

/** How deep messages may be nested: far more than any real message needs, and below any stack limit. */
export const MAX_MESSAGE_DEPTH = 64;

/** Errors of encodings that have no number of the ecosystem. */
export const wireErrors = defineErrors("wire", {
  malformed: [1, "malformed protobuf message"],
  badProof: [2, "the proof does not hold", "the node lies or is damaged: name another one with --node"],
});

/** Additional rules for reading one message. */
export interface DecodeRules {
  /** Field numbers must not go down, and no singular field may be empty: the canonical form of the transaction envelope. */
  readonly ordered?: boolean;
  /** Says which unknown field numbers of the top level are skipped although the reader is strict. */
  readonly tolerates?: (number: number) => boolean;
  /** Field numbers of the top level that count as unknown. */
  readonly hidden?: ReadonlySet<number>;
  /** Sees every `Any` of the message. */
  readonly onAny?: (any: Any) => void;
  /**
   * Called for every field before it is read, and for every element of a packed one: this counts the work of reading,
   * whatever the bytes.
   */
  readonly onField?: () => void;
  /** How many items a list may have. */
  readonly maxItems?: number;
  /** Byte strings are views of the source, which does not change. */
  readonly views?: boolean;
}

interface Decoder {
  readonly schema: DescMessage;
  /** Property values of an empty message; the next two lists are filled in for each message. */
  readonly template: Fields;
  readonly lists: readonly string[];
  readonly oneofs: readonly string[];
  /** By number; the first ones, which almost all fields have, by index. */
  readonly small: readonly (FieldPlan | undefined)[];
  readonly large: ReadonlyMap<number, FieldPlan>;
}

const ANY = "google.protobuf.Any";
const SMALL = 32;
const NO_RULES: DecodeRules = {};
const decoders = new WeakMap<DescMessage, Decoder>();

/** Reads the message that the reader holds. */
export function readMessage<D extends DescMessage>(reader: WireReader, schema: D, rules?: DecodeRules): MessageShape<D>;
export function readMessage(reader: WireReader, schema: DescMessage, rules: DecodeRules = NO_RULES): Fields {
  return new Run(reader, rules).message(decoderOf(schema));
}

function decoderOf(schema: DescMessage): Decoder {
  let decoder = decoders.get(schema);
  if (decoder === undefined) {
    decoder = compile(schema);
    decoders.set(schema, decoder);
  }
  return decoder;
}

function compile(schema: DescMessage): Decoder {
  const plans = planFields(schema);
  return {
    schema,
    template: templateOf(schema, plans),
    lists: plans.filter((plan) => plan.repeated).map((plan) => plan.property),
    oneofs: schema.oneofs.map((oneof) => oneof.localName),
    small: Array.from({ length: SMALL }, (_, number) => plans.find((plan) => plan.number === number)),
    large: new Map(plans.filter((plan) => plan.number >= SMALL).map((plan) => [plan.number, plan])),
  };
}

/** Properties in the order of the library's own constructor, so that the messages of a type share one shape. */
function templateOf(schema: DescMessage, plans: readonly FieldPlan[]): Fields {
  const template: Fields = { $typeName: schema.typeName };
  for (const member of schema.members) {
    const plan = plans.find((candidate) => candidate.property === member.localName);
    const zero = plan === undefined || plan.repeated || plan.inOneof ? null : zeroValue(plan);
    if (zero !== undefined) template[member.localName] = zero;
  }
  return template;
}

/** A message of defaults, equal to what the library's constructor makes and several times quicker. */
export function emptyMessage(schema: DescMessage): Fields {
  return emptyOf(decoderOf(schema));
}

function emptyOf(decoder: Decoder): Fields {
  const message = { ...decoder.template };
  for (const name of decoder.lists) message[name] = [];
  for (const name of decoder.oneofs) message[name] = { case: undefined };
  return message;
}

/** One pass over a message and its nested messages. */
class Run {
  readonly #reader: WireReader;
  readonly #rules: DecodeRules;

  constructor(reader: WireReader, rules: DecodeRules) {
    this.#reader = reader;
    this.#rules = rules;
  }

  message(decoder: Decoder): Fields {
    const reader = this.#reader;
    const message = emptyOf(decoder);
    const ordered = reader.depth === 0 && this.#rules.ordered === true;
    let seen = 0;
    let last = 0;
    while (reader.position < reader.end) {
      const tag = reader.tag();
      const number = tag >>> 3;
      this.#rules.onField?.();
      if (ordered && number < last) reader.fail(`field ${number} comes after field ${last}`);
      last = number;
      const plan = this.#isHidden(number) ? undefined : planOf(decoder, number);
      if (plan === undefined) {
        this.#unknown(decoder, tag);
        continue;
      }
      if (reader.strict && (seen & plan.bit) !== 0)
        reader.fail(`duplicate field ${plan.name} in ${decoder.schema.name}`);
      seen |= plan.bit;
      this.#field(plan, tag & 7, message);
      if (ordered && isEmptySingular(plan, message)) reader.fail(`empty field ${plan.name} in ${decoder.schema.name}`);
    }
    return message;
  }

  #isHidden(number: number): boolean {
    return this.#rules.hidden !== undefined && this.#reader.depth === 0 && this.#rules.hidden.has(number);
  }

  #field(plan: FieldPlan, wireType: number, message: Fields): void {
    if (plan.packed && wireType === LENGTH_DELIMITED) {
      this.#packed(plan, message);
      return;
    }
    if (wireType !== plan.wireType || (plan.packed && this.#reader.strict)) {
      this.#reader.fail(`wrong wire type ${wireType} of field ${plan.name}`);
    }
    const value = plan.message === undefined ? this.#scalar(plan) : this.#nested(plan.message);
    if (plan.repeated) this.#push(plan, message[plan.property] as unknown[], value);
    else message[plan.property] = plan.inOneof ? { case: plan.case, value } : value;
  }

  #packed(plan: FieldPlan, message: Fields): void {
    const reader = this.#reader;
    const list = message[plan.property] as unknown[];
    const outer = reader.enter();
    while (reader.position < reader.end) {
      this.#rules.onField?.();
      this.#push(plan, list, this.#scalar(plan));
    }
    reader.leave(outer);
  }

  #push(plan: FieldPlan, list: unknown[], item: unknown): void {
    const { maxItems } = this.#rules;
    if (maxItems !== undefined && list.length >= maxItems)
      this.#reader.fail(`more than ${maxItems} items of field ${plan.name}`);
    list.push(item);
  }

  #scalar(plan: FieldPlan): unknown {
    const value = plan.scalar?.read(this.#reader);
    if (plan.known !== undefined && this.#reader.strict && !plan.known.has(value)) {
      this.#reader.fail(`unknown value ${value} of field ${plan.name}`);
    }
    return value;
  }

  #nested(schema: DescMessage): Fields {
    const reader = this.#reader;
    const outer = reader.enter();
    reader.depth += 1;
    if (reader.depth > MAX_MESSAGE_DEPTH) reader.fail("messages are nested too deeply");
    const message = this.message(decoderOf(schema));
    reader.depth -= 1;
    reader.leave(outer);
    if (schema.typeName === ANY) this.#rules.onAny?.(message as Fields & Any);
    return message;
  }

  #unknown(decoder: Decoder, tag: number): void {
    const reader = this.#reader;
    const number = tag >>> 3;
    if (reader.strict && !(reader.depth === 0 && this.#rules.tolerates?.(number) === true)) {
      reader.fail(`unknown field ${number} in ${decoder.schema.name}`);
    }
    reader.skip(tag & 7);
  }
}

function planOf(decoder: Decoder, number: number): FieldPlan | undefined {
  return number < SMALL ? decoder.small[number] : decoder.large.get(number);
}

function isEmptySingular(plan: FieldPlan, message: Fields): boolean {
  return !plan.repeated && plan.scalar?.isDefault(message[plan.property]) === true;
}
