/** The records of keys, in the form that the ecosystem's tools write today and in the one before it. */
export { decodeAminoRecord, encodeAminoRecord } from "./amino.ts";
export { decodeRecord, encodeRecord } from "./proto.ts";
