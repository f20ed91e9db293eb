import { defineErrors } from "../../util/index.ts";

/** Errors of encodings that have no number of the ecosystem. */
export const wireErrors = defineErrors("wire", {
  malformed: [1, "malformed protobuf message"],
  badProof: [2, "the proof does not hold", "the node lies or is damaged: name another one with --node"],
});
