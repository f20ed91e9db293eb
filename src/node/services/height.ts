import { sdkErrors } from "../../util/index.ts";

/** The header in the ecosystem's spelling and in ours; a gateway in between puts its own word before it. */
const NAMES = ["x-cosmos-block-height", "x-sdk-block-height"];
const HIGHEST = 2n ** 63n - 1n;

/** The headers that ask for a height, and that report it. */
export const HEIGHT_HEADERS: readonly string[] = NAMES.flatMap((name) => [`grpc-metadata-${name}`, name]);

/** The height that the headers of a request ask for, 0 for the latest. Throws `sdkErrors.invalidRequest`. */
export function heightAsked(headerOf: (name: string) => string | null | undefined): bigint {
  const name = HEIGHT_HEADERS.find((each) => typeof headerOf(each) === "string");
  if (name === undefined) return 0n;
  const text = headerOf(name) ?? "";
  const height = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (height !== undefined && height <= HIGHEST) return height;
  throw sdkErrors.invalidRequest(`the header ${name} is not a height: ${JSON.stringify(text.slice(0, 40))}`);
}

/** Reports the height of an answer over REST. */
export const heightHeaders = reporter(HEIGHT_HEADERS);
/** Reports the height of an answer over gRPC, where no gateway adds its word. */
export const callHeightHeaders = reporter(NAMES);

/** Headers are made once for all answers of a height. */
function reporter(names: readonly string[]): (height: bigint) => Record<string, string> {
  let last: { readonly height: bigint; readonly headers: Record<string, string> } | undefined;
  return (height) => {
    if (last?.height !== height)
      last = { height, headers: Object.fromEntries(names.map((name) => [name, height.toString()])) };
    return last.headers;
  };
}
