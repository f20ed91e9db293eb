export { type DescriptorFile, MAX_REFLECTIONS, Reflection, type ReflectionParts } from "./reflection.ts";
export { addReflection } from "./routes.ts";
