export { toJson } from "./any.ts";
export { JsonList } from "./list.ts";
export { fromJson, fromJsonAny, type ParseOptions } from "./parse.ts";
export { type JsonOptions, toPlainJson } from "./print.ts";
export {
  isArray,
  isObject,
  MAX_JSON_DEPTH,
  type PrintOptions,
  printJson,
  readJson,
  sortJson,
  writeSortedJson,
} from "./text.ts";
export {
  formatDuration,
  formatProtoTimestamp,
  formatTimestamp,
  fromNanos,
  type Instant,
  parseDuration,
  parseTimestamp,
  toNanos,
} from "./time.ts";
export type { JsonObject, JsonValue } from "./value.ts";
