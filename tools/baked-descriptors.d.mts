import type { Plugin } from "esbuild";

export declare const bakedDescriptors: Plugin;
