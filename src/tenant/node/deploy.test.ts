import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signerOf } from "../../../test/support/index.ts";
import { NodeDouble, Refusal } from "../../../test/support/node-double.ts";
import { testKey } from "../../testing/index.ts";
import { deploy } from "./deploy.ts";

test("a node that refuses for the moment is asked again, and its reason is told", async () => {
  const node = new NodeDouble();
  await node.start();
  const home = mkdtempSync(join(tmpdir(), "svc-deploy-"));
  const refusals = ["this node has reached its limit of slow queries: mempool is full", "no such thing"];
  const refuse = (): never => {
    throw new Refusal(refusals.shift() ?? "nothing is left");
  };
  for (const method of ["status", "abci_query"]) node.methods[method] = refuse;
  const told: string[] = [];
  const reporter = { step: () => {}, note: () => {}, waiting: (text: string) => told.push(text) };
  const options = { file: "examples/web.yaml", home, node: node.address, signer: signerOf(testKey("tenant")) };
  try {
    await expect(deploy(options, reporter)).rejects.toThrow("no such thing");
  } finally {
    await node.stop();
    rmSync(home, { recursive: true });
  }
  expect(told.join("\n")).toMatch(/limit of slow queries.*; trying again in 1 s/);
});
