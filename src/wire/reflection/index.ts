export { addReflection, type DescriptorFile, MAX_REFLECTIONS, Reflection, type ReflectionParts } from "./reflection.ts";
