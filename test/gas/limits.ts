import { DEFAULT_ATTRIBUTE_PARAMS, DEFAULT_LIMITS } from "../../src/sdl/index.ts";

/** Default limits on messages; `bids` is `order_max_bids`. */
export const LIMITS = {
  attributes: {
    max: DEFAULT_ATTRIBUTE_PARAMS.attributesMax,
    keyMax: DEFAULT_ATTRIBUTE_PARAMS.attributeKeyMax,
    valueMax: DEFAULT_ATTRIBUTE_PARAMS.attributeValueMax,
  },
  groupBytes: DEFAULT_LIMITS.groupBytesMax,
  groups: DEFAULT_LIMITS.groupsMax,
  rows: DEFAULT_LIMITS.groupUnitsMax,
  auditors: DEFAULT_LIMITS.groupAuditorsMax,
  required: DEFAULT_LIMITS.groupAttributesMax,
  listAttributes: DEFAULT_LIMITS.unitAttributesMax,
  volumes: DEFAULT_LIMITS.unitVolumesMax,
  endpoints: DEFAULT_LIMITS.unitEndpointsMax,
  bids: 20,
} as const;
