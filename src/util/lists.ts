/**
 * Adds items at the end of a list. A spread into `push` puts every item on the call stack, where a list of some hundred
 * thousand items overflows it; here the length does not matter.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** Puts items before all others, whatever their number. */
export function prepend<T>(list: T[], items: readonly T[]): void {
  const rest = list.splice(0);
  append(list, items);
  append(list, rest);
}

/** The largest of some numbers, and at least a bound. */
export function largest(values: Iterable<number>, bound: number): number {
  let found = bound;
  for (const value of values) if (value > found) found = value;
  return found;
}

/** The smallest of some numbers, and at most a bound. */
export function smallest(values: Iterable<number>, bound: number): number {
  let found = bound;
  for (const value of values) if (value < found) found = value;
  return found;
}

/** The keys of an object whose type names all of them. */
export function keysOf<K extends string>(values: Readonly<Partial<Record<K, unknown>>>): K[];
export function keysOf(values: object): string[] {
  return Object.keys(values);
}

/** The object with the same keys and a value made of each value. */
export function mapValues<K extends string, V, W>(values: Readonly<Record<K, V>>, make: (value: V) => W): Record<K, W>;
export function mapValues<V, W>(values: Readonly<Record<string, V>>, make: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, make(value)]));
}

/** Whether a value is an object with members, as of JSON. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
