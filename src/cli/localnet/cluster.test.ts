import { expect, test } from "vitest";
import { resolveFlags } from "../command/flags.ts";
import { chosenCluster } from "../provider/run/cluster.ts";
import { readClusterSettings } from "../provider/run/config.ts";
import { PROVIDER_RUN_FLAGS } from "../provider/run/spec.ts";
import { engineFlags } from "./cluster.ts";

test("node ports of a localnet answer on this machine alone", () => {
  const words = engineFlags("/run/engine.sock", { nodePortFirst: 31_000, nodePortLast: 31_009 });
  const given = new Map(
    words.flatMap((word, i) => (i % 2 === 0 ? [[word.slice(2), words[i + 1] ?? ""] as const] : [])),
  );
  const flags = resolveFlags(PROVIDER_RUN_FLAGS, given, { SVC_HOME: "/home/x" });
  expect(chosenCluster(flags).capabilities).toMatchObject({ nodePortAddress: "127.0.0.1" });
  expect(readClusterSettings(flags).nodePorts).toEqual({ first: 31_000, last: 31_009 });
});
