import { ATTRIBUTE_LIMITS, type AttributeLimits, MOST_ATTRIBUTES } from "../read/attributes.ts";

/** The parameters of a module whose records hold attributes. */
export interface AttributeParams {
  readonly attributesMax: number;
  readonly attributeKeyMax: number;
  readonly attributeValueMax: number;
}

export const DEFAULT_ATTRIBUTE_PARAMS: AttributeParams = {
  attributesMax: ATTRIBUTE_LIMITS.entries,
  attributeKeyMax: ATTRIBUTE_LIMITS.keyMax,
  attributeValueMax: ATTRIBUTE_LIMITS.valueBytes,
};

export function attributeLimits(params: AttributeParams): AttributeLimits {
  return { entries: params.attributesMax, keyMax: params.attributeKeyMax, valueBytes: params.attributeValueMax };
}

/** Faults of the parameters, one sentence each. */
export function attributeParamProblems(params: AttributeParams): string[] {
  const { entries, keyMax, valueBytes } = MOST_ATTRIBUTES;
  return [
    ...outside("attributes_max", params.attributesMax, [1, entries]),
    ...outside("attribute_key_max", params.attributeKeyMax, [2, keyMax]),
    ...outside("attribute_value_max", params.attributeValueMax, [1, valueBytes]),
  ];
}

function outside(name: string, value: number, [least, most]: readonly [number, number]): string[] {
  return value >= least && value <= most ? [] : [`params.${name}: is ${value}, allowed are ${least} to ${most}`];
}
