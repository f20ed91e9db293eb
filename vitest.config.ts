import { defineConfig } from "vitest/config";

/** No keyring of the developer's own session is ever opened by a test. */
const NO_SESSION = { DBUS_SESSION_BUS_ADDRESS: "disabled:", PASSWORD_STORE_DIR: "/nonexistent/password-store" };

/**
 * Unit tests share the modules of their worker, which halves their time; none keeps state outside itself.
 *
 * Two projects: `unit` stays quick and runs everywhere; `e2e` starts real processes, containers and networks.
 */
export default defineConfig({
  test: {
    // One core left over, the default, is half of a small machine.
    maxWorkers: "100%",
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          testTimeout: 30_000,
          isolate: false,
          env: NO_SESSION,
        },
      },
      {
        test: {
          name: "e2e",
          env: NO_SESSION,
          include: ["test/{e2e,kill,interop}/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
