import { expect, it } from "vitest";
import { silentLogger } from "../../../../../util/index.ts";
import { ContainerLimits } from "./process-limit.ts";

const WANTED = { openFiles: 1024, processes: 96_365, signals: 96_365 };
const value = (limits: ContainerLimits, name: string) => limits.ulimits.find(({ Name }) => Name === name)?.Hard;

const trial = (createdAt: number) => ({ createdAt, isTrial: true });

it.each([
  ["runc: error during container init: error setting rlimit type 6: operation not permitted", "nproc"],
  [
    "error setting rlimits for ready process: error setting rlimit type 11: operation not permitted: unknown",
    "sigpending",
  ],
  ["crun: setrlimit `RLIMIT_NPROC`: Operation not permitted: OCI permission denied", "nproc"],
])("halves the limit that a runtime refuses: %s", (text, name) => {
  const limits = new ContainerLimits(WANTED, silentLogger, () => 10);
  expect(limits.refused(text, trial(0))).toBe(true);
  expect(value(limits, name)).toBe(48_182);
  // Another container from before the change is only made anew.
  expect(limits.refused(text, trial(5))).toBe(true);
  expect(value(limits, name)).toBe(48_182);
  expect(limits.refused(text, trial(20))).toBe(true);
  expect(value(limits, name)).toBe(24_091);
});

it("goes no lower than programs need, and leaves other words alone", () => {
  const limits = new ContainerLimits({ ...WANTED, processes: 400 }, silentLogger, () => 0);
  const text = "error setting rlimit type 6: operation not permitted";
  expect(limits.refused(text, trial(1))).toBe(true);
  expect(value(limits, "nproc")).toBe(256);
  expect(limits.refused(text, trial(1))).toBe(false);
  expect(limits.refused("error setting rlimit type 12: operation not permitted", trial(1))).toBe(false);
  expect(limits.refused("mount: operation not permitted", trial(1))).toBe(false);
});

it("finds limits for an engine that may open 900 files and have 900 processes", () => {
  const limits = new ContainerLimits(WANTED, silentLogger, () => 0);
  for (const [type, name] of [
    [7, "nofile"],
    [6, "nproc"],
  ] as const) {
    while ((value(limits, name) ?? 0) > 900)
      expect(limits.refused(`error setting rlimit type ${type}: operation not permitted`, trial(1))).toBe(true);
  }
  expect(value(limits, "nofile")).toBe(512);
});

it("believes no container of a tenant, whose image may hold any words", () => {
  const limits = new ContainerLimits(WANTED, silentLogger, () => 10);
  const text = "invalid signal: error setting rlimit type 6: operation not permitted";
  expect(limits.refused(text, { createdAt: 20, isTrial: false })).toBe(false);
  expect(value(limits, "nproc")).toBe(96_365);
  expect(limits.refused(text, trial(20))).toBe(true);
  // Containers of tenants from before the change are made anew.
  expect(limits.refused(text, { createdAt: 5, isTrial: false })).toBe(true);
  expect(value(limits, "nproc")).toBe(48_182);
});
