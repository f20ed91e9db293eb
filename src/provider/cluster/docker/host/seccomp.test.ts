import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seccompOption, seccompProfile } from "./seccomp.ts";

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly { readonly index: number; readonly value: number; readonly op: string }[];
}

const profile = seccompProfile("x64") as { defaultAction: string; architectures: string[]; syscalls: Rule[] };
const rules = (name: string) => profile.syscalls.filter(({ names }) => names.includes(name));

describe("the system calls of tenants", () => {
  it.each(["unshare", "setns", "mount", "keyctl", "bpf", "perf_event_open", "userfaultfd", "open_by_handle_at"])(
    "%s is not permitted",
    (name) => {
      expect(rules(name)).toEqual([expect.objectContaining({ action: "SCMP_ACT_ERRNO", errnoRet: 1 })]);
    },
  );

  it.each(["clone3", "io_uring_setup"])("%s does not exist", (name) => {
    expect(rules(name)).toEqual([expect.objectContaining({ action: "SCMP_ACT_ERRNO", errnoRet: 38 })]);
  });

  it("no call has both a rule with arguments and one without", () => {
    for (const name of new Set(profile.syscalls.flatMap(({ names }) => names))) {
      const bare = rules(name).filter(({ args }) => args === undefined);
      expect([name, bare.length === 0 || rules(name).length === 1]).toEqual([name, true]);
    }
  });

  it("what is not named does not exist, 32-bit calls among it", () => {
    expect(profile.defaultAction).toBe("SCMP_ACT_ERRNO");
    expect(profile.architectures).toEqual(["SCMP_ARCH_X86_64"]);
    expect(rules("socketcall")).toEqual([]);
  });

  it("sockets are local, of the Internet, or ask for routes", () => {
    const allowed = rules("socket").filter(({ action }) => action === "SCMP_ACT_ALLOW");
    expect(allowed.map(({ args }) => args?.map(({ value }) => value))).toEqual([[1], [2], [10], [16, 0]]);
  });
});

describe("the seccomp option", () => {
  it("is the profile for Docker, and the path of a file with it for Podman", () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-seccomp-"));
    expect(JSON.parse(seccompOption("docker", folder))).toEqual(seccompProfile());
    expect(JSON.parse(readFileSync(seccompOption("podman", folder), "utf8"))).toEqual(seccompProfile());
    rmSync(folder, { recursive: true });
  });

  it("is written anew where a damaged disk has left something else", () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-seccomp-"));
    const path = seccompOption("podman", folder);
    rmSync(path);
    mkdirSync(path);
    expect(JSON.parse(readFileSync(seccompOption("podman", folder), "utf8"))).toEqual(seccompProfile());
    rmSync(folder, { recursive: true });
  });
});
