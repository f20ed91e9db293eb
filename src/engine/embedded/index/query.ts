import { parseRfc3339 } from "../blocks/time.ts";

/** The query language of searches and subscriptions: `tm.event='Tx' AND tx.height>5 AND message.action='send'`. */

export type Operator = "=" | "<" | "<=" | ">" | ">=" | "CONTAINS" | "EXISTS";

export type Operand =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "number"; readonly text: string; readonly value: number }
  | { readonly kind: "time"; readonly text: string; readonly value: bigint }
  | { readonly kind: "none" };

/** One comparison of an attribute, `type.key`. */
export interface Condition {
  readonly key: string;
  readonly operator: Operator;
  readonly operand: Operand;
}

/** All conditions must hold. */
export type Query = readonly Condition[];

/** Values of every attribute, by `type.key`. */
export type Attributes = ReadonlyMap<string, readonly string[]>;

/** Like the reference engine. */
export const MAX_QUERY_LENGTH = 512;
const MAX_CONDITIONS = 16;

const SPACE = /\s*/y;
const KEY = /[^\s'"()=<>\\]+/y;
const OPERATOR = /<=|>=|<|>|=|CONTAINS\b|EXISTS\b/y;
const AND = /AND\b/y;
const TEXT = /'([^']*)'/y;
const NUMBER = /-?\d+(?:\.\d+)?(?![\w-])/y;
const TIME = /TIME\s+(\S+)/y;
const DATE = /DATE\s+(\d{4}-\d{2}-\d{2})(?!\S)/y;

/** Throws one sentence that says where the text stops making sense. */
export function parseQuery(text: string): Query {
  if (text.length > MAX_QUERY_LENGTH)
    throw new Error(`maximum query length exceeded: longer than ${MAX_QUERY_LENGTH} characters`);
  const scanner = new Scanner(text);
  const conditions: Condition[] = [];
  do conditions.push(parseCondition(scanner));
  while (conditions.length <= MAX_CONDITIONS && scanner.take(AND) !== undefined);
  if (conditions.length > MAX_CONDITIONS)
    throw new Error(`failed to parse query: more than ${MAX_CONDITIONS} conditions`);
  if (!scanner.atEnd) throw scanner.fault("expected AND or the end");
  return conditions;
}

function parseCondition(scanner: Scanner): Condition {
  const key = scanner.take(KEY)?.[0];
  if (key === undefined) throw scanner.fault("expected an attribute such as message.action");
  const operator = scanner.take(OPERATOR)?.[0];
  if (!isOperator(operator)) throw scanner.fault("expected one of = < <= > >= CONTAINS EXISTS");
  if (operator === "EXISTS") return { key, operator, operand: { kind: "none" } };
  const operand = parseOperand(scanner);
  if (operator === "CONTAINS" && operand.kind !== "text") throw scanner.fault("CONTAINS takes a text in single quotes");
  if (operand.kind === "text" && operator !== "=" && operator !== "CONTAINS") {
    throw scanner.fault(`${operator} takes a number, DATE or TIME, not a text`);
  }
  return { key, operator, operand };
}

function isOperator(text: string | undefined): text is Operator {
  return text !== undefined;
}

function parseOperand(scanner: Scanner): Operand {
  const text = scanner.take(TEXT)?.[1];
  if (text !== undefined) return { kind: "text", text };
  const number = scanner.take(NUMBER)?.[0];
  if (number !== undefined) return { kind: "number", text: number, value: Number(number) };
  const time = scanner.take(TIME)?.[1];
  if (time !== undefined) return { kind: "time", text: time, value: parseRfc3339(time) };
  const date = scanner.take(DATE)?.[1];
  if (date !== undefined) return { kind: "time", text: date, value: parseRfc3339(`${date}T00:00:00Z`) };
  throw scanner.fault("expected a text in single quotes, a number, DATE or TIME");
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skip();
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    this.#skip();
    return match;
  }

  fault(expected: string): Error {
    return new Error(`failed to parse query: ${expected} at character ${this.#at + 1}`);
  }

  #skip(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }
}

/** Whether all conditions hold, each for any value of its attribute. */
export function matches(query: Query, attributes: Attributes): boolean {
  return query.every((condition) => {
    const values = attributes.get(condition.key);
    if (values === undefined) return false;
    return condition.operator === "EXISTS" || values.some((value) => holds(condition, value));
  });
}

/**
 * Whether a value satisfies a condition. A value that is neither a number nor a time satisfies no comparison by size.
 */
export function holds({ operator, operand }: Condition, value: string): boolean {
  if (operand.kind === "none") return true;
  if (operator === "=" && operand.kind !== "time") return value === operand.text;
  if (operator === "CONTAINS") return operand.kind === "text" && value.includes(operand.text);
  if (operand.kind === "number") return compare(operator, leadingNumber(value), operand.value);
  if (operand.kind === "time") return compare(operator, timeOf(value), operand.value);
  return false;
}

function compare<T extends number | bigint>(operator: Operator, value: T | undefined, bound: T): boolean {
  if (value === undefined) return false;
  if (operator === "=") return value === bound;
  if (operator === "<") return value < bound;
  if (operator === "<=") return value <= bound;
  if (operator === ">") return value > bound;
  return value >= bound;
}

/** Amounts such as `10utoken` compare by the number they begin with. */
function leadingNumber(value: string): number | undefined {
  const match = /^-?\d+(?:\.\d+)?/.exec(value);
  return match === null ? undefined : Number(match[0]);
}

function timeOf(value: string): bigint | undefined {
  try {
    return parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : value);
  } catch {
    return undefined;
  }
}
