/**
 * The language between an engine and an application (ABCI 2.0): every engine speaks it, and the application speaks no
 * other.
 */
export type * from "./application.ts";
export * from "./block.ts";
export * from "./claims.ts";
export * from "./consensus.ts";
export * from "./logs.ts";
export type * from "./results.ts";
export type * from "./snapshots.ts";
