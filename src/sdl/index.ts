export type { SdlErrorKind, SdlIssue } from "./errors.ts";
export { formatIssue, manifestErrors, SDL_CODES, SdlError } from "./errors.ts";
export { decodeSdl, loadSdlFile } from "./file.ts";
export type { SdlLimits } from "./limits.ts";
export { DEFAULT_LIMITS, formatBytes, SIZE_LIMITS, type SizeLimit } from "./limits.ts";
export type { LoadedSdl, LoadOptions, SdlSource } from "./load.ts";
export { loadSdl, requireOrderable, sdlHash } from "./load.ts";
export type * from "./manifest.ts";
export { manifestHash, manifestJson } from "./plan/hash.ts";
export { type Candidate, hasCapabilities, meetsRequirements } from "./plan/matching.ts";
export { exposeEndpoints, isHttpExpose } from "./plan/plan.ts";
export type { PriceOverTime } from "./plan/price.ts";
export { formatPrice, groupPrice, priceOverTime } from "./plan/price.ts";
export { type AttributeLimits, attributeFault, MOST_ATTRIBUTES, matchAttributes } from "./read/attributes.ts";
export { chosenOptions, DEFAULT_HTTP_OPTIONS } from "./read/expose.ts";
export { Report } from "./report.ts";
export {
  type AttributeParams,
  attributeLimits,
  attributeParamProblems,
  DEFAULT_ATTRIBUTE_PARAMS,
} from "./rules/attribute-params.ts";
export { type GroupFault, groupsFault } from "./rules/chain-rules.ts";
export { checkManifestAgainstGroup, checkManifestAgainstGroups } from "./rules/check.ts";
export { decodeManifest } from "./rules/decode.ts";
export { type ChainTerms, DEFAULT_TERMS } from "./rules/orderable.ts";
export { validateManifest } from "./rules/validate.ts";
export { parseDocumentText, pathInto } from "./yaml/document.ts";
export { documentText, editableDocument } from "./yaml/editing.ts";
export { type Parsed, Reader, type Want } from "./yaml/fields.ts";
export { MAX_FILE_BYTES } from "./yaml/guard.ts";
export { checkServiceName } from "./yaml/names.ts";
