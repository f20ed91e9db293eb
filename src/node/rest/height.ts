import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { sdkErrors } from "../../util/index.ts";

/** The header in the ecosystem's spelling and in ours; a gateway in between puts its own word before it. */
const NAMES = ["x-cosmos-block-height", "x-sdk-block-height"];
const PREFIX = "grpc-metadata-";
const HIGHEST = 2n ** 63n - 1n;

/** The headers that tell a height, so that pages of other origins may read them. */
export const HEIGHT_HEADERS = NAMES.flatMap((name) => [PREFIX + name, name]);

/** The height that a request asks for, 0 for the latest. Throws `sdkErrors.invalidRequest`. */
export function heightAsked(headers: IncomingHttpHeaders): bigint {
  const name = HEIGHT_HEADERS.find((each) => headers[each] !== undefined);
  if (name === undefined) return 0n;
  const text = String(headers[name]);
  const height = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (height !== undefined && height <= HIGHEST) return height;
  throw sdkErrors.invalidRequest(`the header ${name} is not a height: ${JSON.stringify(text.slice(0, 40))}`);
}

/** Tells the height that an answer is of. */
export function heightHeaders(height: bigint): OutgoingHttpHeaders {
  const text = height.toString();
  return {
    "Grpc-Metadata-X-Cosmos-Block-Height": text,
    "Grpc-Metadata-X-Sdk-Block-Height": text,
    "X-Cosmos-Block-Height": text,
    "X-Sdk-Block-Height": text,
  };
}
