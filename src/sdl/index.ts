export type * from "./manifest.ts";
