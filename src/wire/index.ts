export * from "./address.ts";
export * from "./public-key.ts";
