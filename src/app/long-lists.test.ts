import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { defineGenesis, defineModule, type Module } from "../runtime/index.ts";
import { GenesisStateSchema } from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { JsonList, type JsonValue } from "../wire/index.ts";
import { genesisProblems } from "./genesis.ts";

/** A module with a long list that records its items; the item "bad" is wrong, and "unread" throws. */
function listing(): { readonly module: Module; readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const genesis = defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    validate: ({ accounts, params }) => {
      calls.push(["rest", accounts.length]);
      return params?.maxMemoCharacters === 7n ? ["seven"] : [];
    },
    init: () => undefined,
    long: {
      field: "accounts",
      begin: (_, ctx) => ({
        take: (item, index) => {
          calls.push(["take", item, index, ctx === undefined]);
          if (item === "unread") throw new Error("not read");
          return item === "bad" ? ["first", "second"] : [];
        },
        end: (isRight) => {
          calls.push(["end", isRight]);
          return ["at the end"];
        },
      }),
    },
    export: () => create(GenesisStateSchema),
  });
  return { module: defineModule({ name: "m", genesis }), calls };
}

function judge(state: unknown): { readonly problems: string[]; readonly calls: unknown[] } {
  const { module, calls } = listing();
  return { problems: genesisProblems([module], { m: state }), calls };
}

test.each<[string, (items: JsonValue[]) => unknown]>([
  ["an array", (items) => items],
  ["a list in parts", (items) => new JsonList(() => items.map((item) => [item]))],
])("%s is taken item by item, and is not in what is read as a message", (_, listOf) => {
  const { problems, calls } = judge({ accounts: listOf(["a", "b"]) });
  expect(calls).toEqual([
    ["rest", 0],
    ["take", "a", 0, true],
    ["take", "b", 1, true],
    ["end", true],
  ]);
  expect(problems).toEqual(["m: at the end"]);
});

test("every wrong item is reported, and the end of the import knows of it", () => {
  const { problems, calls } = judge({ accounts: ["bad", "unread", "a"] });
  expect(problems).toEqual(["m: first", "m: second", "m: not read", "m: at the end"]);
  expect(calls.at(-1)).toEqual(["end", false]);
});

test("the end of the import knows that the rest of the state is wrong", () => {
  const { problems, calls } = judge({ params: { max_memo_characters: "7" }, accounts: ["a"] });
  expect(problems).toEqual(["m: seven", "m: at the end"]);
  expect(calls.at(-1)).toEqual(["end", false]);
});

test("a list that cannot be read to its end is reported as a problem of its module", () => {
  const broken = new JsonList(function* () {
    yield ["bad"];
    throw new Error("no JSON");
  });
  const { problems, calls } = judge({ accounts: broken });
  expect(problems).toEqual(["m: first", "m: second", "m: no JSON"]);
  expect(calls.map((call) => (call as unknown[])[0])).not.toContain("end");
});

test("anything but a list is refused with its message", () => {
  expect(judge({ accounts: {} }).problems[0]).toContain("a list was expected");
});
