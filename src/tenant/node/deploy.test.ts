import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signerOf } from "../../../test/support/index.ts";
import { NodeDouble, Refusal } from "../../../test/support/node-double.ts";
import { testKey } from "../../testing/index.ts";
import { deployErrors } from "../session/errors.ts";
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
  expect(told.join("\n")).toMatch(/the node \(.*limit of slow queries.*; trying again in 1 s\)/);
});

test("an interruption ends it while it waits for a busy node", async () => {
  const node = new NodeDouble();
  await node.start();
  const home = mkdtempSync(join(tmpdir(), "svc-deploy-"));
  const refuse = (): never => {
    throw new Refusal("mempool is full");
  };
  for (const method of ["status", "abci_query"]) node.methods[method] = refuse;
  const stop = new AbortController();
  const waiting = (text: string): void => {
    if (text.includes("busy")) stop.abort();
  };
  const options = { file: "examples/web.yaml", home, node: node.address, signer: signerOf(testKey("tenant")) };
  try {
    const deploying = deploy({ ...options, signal: stop.signal }, { step: () => {}, note: () => {}, waiting });
    await expect(deploying).rejects.toMatchObject({ code: deployErrors.interrupted.code });
    expect(node.seen).toHaveLength(1);
  } finally {
    await node.stop();
    rmSync(home, { recursive: true });
  }
});
