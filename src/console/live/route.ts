import { computed, signal } from "@preact/signals";
import { tryParseInt } from "../../util/index.ts";

/** A page's address after the `#`: `#/block/12?after=ff` has the words `block` and `12`, and the search `after=ff`. */
export interface Route {
  readonly words: readonly string[];
  readonly search: URLSearchParams;
}

/** A page receives the words of its address after the first. */
export interface PageProps {
  readonly words: readonly string[];
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
  scrollTo(0, 0);
});

export const route = computed(() => readRoute(hash.value));

/** Words that are no valid percent-encoding stay unchanged. */
export function readRoute(text: string): Route {
  const [path = "", search = ""] = text.replace(/^#\/?/, "").split(/\?(.*)/s);
  const words = path.split("/").filter((word) => word !== "");
  return { words: words.map(decoded), search: new URLSearchParams(search) };
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** The link to a page. */
export function link(...words: readonly (string | bigint | number)[]): string {
  return `#/${words.map((word) => encodeURIComponent(String(word))).join("/")}`;
}

/** Goes to another page in the place of this one, so that going back does not return here. */
export function replaceRoute(to: string): void {
  location.replace(to);
}

/** A height as a person writes it; undefined for anything else. */
export function readHeight(text: string): bigint | undefined {
  const value = /^\d{1,19}$/.test(text) ? tryParseInt(text) : undefined;
  return value === undefined || value < 1n ? undefined : value;
}
