import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliChain, cliChain } from "../../../test/cli/chain.ts";
import { runCli } from "../../../test/cli/run.ts";
import { defaultAppState } from "../../node/index.ts";
import { MsgSetNoteSchema } from "../../wire/gen/svc/template/v1beta1/template_pb.js";
import { aminoMessage, chainError, toJson, typeUrlOf } from "../../wire/index.ts";

/* Parts of a module that need no line elsewhere: run in the copy of the tree in which the checklist was followed. */

let chain: CliChain;
beforeAll(async () => {
  chain = await cliChain("alice", "bob");
});
afterAll(() => chain?.stop());

test("a message and the queries are commands", async () => {
  const { alice = "" } = chain.addresses;
  expect(await chain.tx("template", "set", "hello", "--from", "alice")).toMatchObject({ code: 0 });
  expect(await chain.query("template", "get", alice)).toEqual({ owner: alice, text: "hello" });
  expect(await chain.query("template", "list")).toMatchObject({ notes: [{ owner: alice, text: "hello" }] });
});

test("the groups of commands name the module", async () => {
  expect((await runCli(["tx", "--help"])).out).toMatch(/template +Write notes/);
  expect((await runCli(["query", "--help"])).out).toMatch(/template +Notes/);
});

test("a refusal has its code, text and remedy", async () => {
  const { bob = "" } = chain.addresses;
  expect(chainError("template", 2)).toBeDefined();
  const { code, err } = await chain.run(["query", "template", "get", bob]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("note not found") });
  expect(err).toContain("Hint: write one with: svc tx template set <text>");
});

test("JSON, amino names and genesis know it", () => {
  const value = create(MsgSetNoteSchema, { owner: "a", text: "t" });
  expect(typeUrlOf(MsgSetNoteSchema)).toBe("/svc.template.v1beta1.MsgSetNote");
  expect(toJson(MsgSetNoteSchema, value)).toEqual({ owner: "a", text: "t" });
  const amino = aminoMessage({ schema: MsgSetNoteSchema, value });
  expect(amino).toEqual({ type: "svc/MsgSetNote", value: { owner: "a", text: "t" } });
  expect(defaultAppState()).toMatchObject({ template: { notes: [] } });
});
