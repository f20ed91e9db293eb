import type { PageResponse } from "../../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import { clientErrors } from "../errors.ts";

/** Rows requested at once. */
export const PAGE_ROWS = 500n;
/** A list with this many pages is considered endless. */
const MAX_PAGES = 10_000;

export interface PageInit {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly limit: bigint;
}

/** All pages of a list. A page may be short or empty and still not be the last. */
export async function allPages<T extends { readonly pagination?: PageResponse | undefined }>(
  ask: (pagination: PageInit) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  let key: Uint8Array<ArrayBuffer> = new Uint8Array();
  do {
    const answer = await ask({ key, limit: PAGE_ROWS });
    answers.push(answer);
    if (answers.length > MAX_PAGES) throw clientErrors.badAnswer("the node's list does not end");
    key = new Uint8Array(answer.pagination?.nextKey ?? []);
  } while (key.length > 0);
  return answers;
}
