/** Any JSON; integers of 64 bits are text in it. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object whose keys keep their order. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
