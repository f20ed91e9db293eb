import { defineConfig } from "vitest/config";

/**
 * Unit tests share the modules of their worker, which halves their time; none keeps state outside itself.
 *
 * Two projects: `unit` stays quick and runs everywhere; `e2e` starts real processes, containers and networks.
 */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts", "test/*.test.ts"], testTimeout: 30_000, isolate: false } },
      {
        test: {
          name: "e2e",
          include: ["test/{e2e,kill,interop}/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
