import { describe, expect, test } from "vitest";
import type { FlagSpec } from "./flag-spec.ts";
import { envName, resolveFlags } from "./flags.ts";

const SPECS: readonly FlagSpec[] = [
  { name: "node", value: "<n>", summary: "", default: "tcp://default" },
  { name: "cluster-orch", alias: "cluster-k8s", summary: "" },
  { name: "mode", value: "<m>", summary: "", choices: ["sync", "block"], default: "sync" },
  { name: "ids", value: "<id>", summary: "", repeat: true },
  { name: "rpc.laddr", value: "<a>", summary: "" },
];

const flags = (parsed: Record<string, string | boolean | readonly string[]> = {}, env: Record<string, string> = {}) =>
  resolveFlags(SPECS, new Map(Object.entries(parsed)), env);

describe("flags", () => {
  test("flag goes before variable goes before default", () => {
    expect(flags().text("node")).toBe("tcp://default");
    expect(flags({}, { SVC_NODE: "e" }).text("node")).toBe("e");
    expect(flags({ node: "f" }, { SVC_NODE: "e" }).text("node")).toBe("f");
    expect(flags({}, { SVC_NODE: "" }).text("node")).toBe("tcp://default");
  });

  test("know where they came from", () => {
    const [none, env, flag] = [flags(), flags({}, { SVC_NODE: "e" }), flags({ node: "f" })];
    expect([none.given("node"), env.given("node"), flag.given("node")]).toEqual([false, true, true]);
    expect([none.typed("node"), env.typed("node"), flag.typed("node")]).toEqual([false, false, true]);
  });

  test("names of variables", () => {
    expect(envName("keyring-backend")).toBe("SVC_KEYRING_BACKEND");
    expect(flags({}, { SVC_RPC_LADDR: "x" }).text("rpc.laddr")).toBe("x");
  });

  test("switches, other spellings, lists", () => {
    expect(flags({ "cluster-k8s": true }).bool("cluster-orch")).toBe(true);
    expect(flags({}, { SVC_CLUSTER_ORCH: "yes" }).bool("cluster-orch")).toBe(true);
    expect(flags({}, { SVC_CLUSTER_ORCH: "0" }).bool("cluster-orch")).toBe(false);
    expect(flags({ ids: ["a", "b"] }).list("ids")).toEqual(["a", "b"]);
    expect(flags({}, { SVC_IDS: "a,b" }).list("ids")).toEqual(["a", "b"]);
    expect(flags({ node: " a, b,," }).words("node")).toEqual(["a", "b"]);
  });

  test("numbers", () => {
    expect(flags({ node: "18446744073709551616" }).uint("node")).toBe(18446744073709551616n);
    expect(flags({ node: "7" }).count("node")).toBe(7);
    expect(flags().optional("ids")).toBeUndefined();
  });

  test.each([
    [() => flags({ node: "-1" }).uint("node"), '--node takes a whole number, not "-1"'],
    [() => flags({ node: "1e3" }).uint("node"), '--node takes a whole number, not "1e3"'],
    [() => flags({ node: "99999999999999999999" }).count("node"), "--node is too large"],
    [() => flags().need("ids"), "required flag --ids is not set (or SVC_IDS)"],
    [() => flags({ mode: "fast" }), '--mode takes sync, block, not "fast"'],
    [() => flags({}, { SVC_MODE: "fast" }), 'SVC_MODE takes sync, block, not "fast"'],
    [() => flags({}, { SVC_CLUSTER_ORCH: "maybe" }), 'SVC_CLUSTER_ORCH takes true or false, not "maybe"'],
  ])("refusals", (read, text) => expect(read).toThrow(text));
});
