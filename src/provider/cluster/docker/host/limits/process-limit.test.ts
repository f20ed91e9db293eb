import { expect, it } from "vitest";
import { silentLogger } from "../../../../../util/index.ts";
import { ContainerLimits } from "./process-limit.ts";

const WANTED = { openFiles: 1024, processes: 96_365, signals: 96_365 };
const value = (limits: ContainerLimits, name: string) => limits.ulimits.find(({ Name }) => Name === name)?.Hard;

it.each([
  ["runc: error during container init: error setting rlimit type 6: operation not permitted", "nproc"],
  [
    "error setting rlimits for ready process: error setting rlimit type 11: operation not permitted: unknown",
    "sigpending",
  ],
  ["crun: setrlimit `RLIMIT_NPROC`: Operation not permitted: OCI permission denied", "nproc"],
])("halves the limit that a runtime refuses: %s", (text, name) => {
  const limits = new ContainerLimits(WANTED, silentLogger, () => 10);
  expect(limits.refused(text, 0)).toBe(true);
  expect(value(limits, name)).toBe(48_182);
  // Another container from before the change is only made anew.
  expect(limits.refused(text, 5)).toBe(true);
  expect(value(limits, name)).toBe(48_182);
  expect(limits.refused(text, 20)).toBe(true);
  expect(value(limits, name)).toBe(24_091);
});

it("goes no lower than programs need, and leaves other words alone", () => {
  const limits = new ContainerLimits({ ...WANTED, processes: 1_500 }, silentLogger, () => 0);
  const text = "error setting rlimit type 6: operation not permitted";
  expect(limits.refused(text, 1)).toBe(true);
  expect(value(limits, "nproc")).toBe(1_024);
  expect(limits.refused(text, 1)).toBe(false);
  expect(limits.refused("error setting rlimit type 7: operation not permitted", 1)).toBe(false);
  expect(limits.refused("error setting rlimit type 12: operation not permitted", 1)).toBe(false);
  expect(limits.refused("mount: operation not permitted", 1)).toBe(false);
});
