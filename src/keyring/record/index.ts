/** The records of keys, in the form that the ecosystem's tools write today and in the earlier one. */
export { decodeAminoRecord, encodeAminoRecord } from "./amino.ts";
export { decodeRecord, encodeRecord } from "./proto.ts";
