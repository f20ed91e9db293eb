/**
 * Adds items at the end of a list. A spread into `push` puts every item on the call stack, where a list of some hundred
 * thousand ends the call; here the length does not matter.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
