import { append } from "../../../src/util/index.ts";

interface Paged {
  readonly pagination?: { readonly nextKey: Uint8Array } | undefined;
}

interface PageSettings {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly limit: bigint;
  readonly reverse: boolean;
}

/** Follows the next keys of a paged query to its end and returns the rows of all pages. */
export function walkPages<R extends Paged, T>(
  ask: (pagination: PageSettings) => R,
  rowsOf: (answer: R) => readonly T[],
  { limit = 1n, reverse = false }: { readonly limit?: bigint; readonly reverse?: boolean } = {},
): T[] {
  const rows: T[] = [];
  let key = new Uint8Array();
  do {
    const answer = ask({ key, limit, reverse });
    append(rows, rowsOf(answer));
    key = Uint8Array.from(answer.pagination?.nextKey ?? []);
  } while (key.length > 0);
  return rows;
}
