import { create, type Message, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ENDS, type Updated, updated } from "../../test/support/parameter-ends.ts";
import { DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../abci/index.ts";
import { moduleAddress } from "../crypto/index.ts";
import { memoryDatabase } from "../store/index.ts";
import { type TestChain, testChain, toAny } from "../testing/index.ts";
import { MsgSubmitProposalSchema } from "../wire/gen/sdk/gov/v1/tx_pb.js";
import { encodeAddress, type JsonValue, toJson } from "../wire/index.ts";
import { createApp, standardModules } from "./app.ts";

function refusal({ update, read }: Updated, json: JsonValue): string | undefined {
  const message = create(update.input, { authority: "", params: read(json) } as never);
  try {
    update.validate(message);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const GOVERNANCE = encodeAddress(moduleAddress("gov"));
const { modules } = standardModules();

describe("parameters that governance changes", () => {
  test("every module with parameters in its genesis has the message", () => {
    const having = modules.filter(({ genesis }) => genesis.schema.fields.some(({ name }) => name === "params"));
    expect(having.filter(({ msg }) => !msg?.methods.has("UpdateParams")).map(({ name }) => name)).toEqual([]);
  });

  test("all have their limits in this table, except switches", () => {
    const missing = modules.flatMap(({ name, genesis }) => {
      const { message } = genesis.schema.fields.find(({ name: each }) => each === "params") ?? {};
      const fields = message?.fields.filter(({ scalar }) => scalar !== ScalarType.BOOL) ?? [];
      return fields.filter((each) => ENDS[name]?.[each.name] === undefined).map((each) => `${name}.${each.name}`);
    });
    expect(missing).toEqual([]);
  });

  test.each(Object.entries(ENDS))("of %s are refused one beyond their limits, as in genesis", (name, table) => {
    const module = updated(name);
    expect(refusal(module, module.defaults)).toBeUndefined();
    for (const [parameter, { good, bad }] of Object.entries(table)) {
      for (const value of good)
        expect([parameter, value, refusal(module, { ...module.defaults, [parameter]: value })]).toEqual([
          parameter,
          value,
          undefined,
        ]);
      for (const value of bad)
        expect([parameter, value, refusal(module, { ...module.defaults, [parameter]: value })]).toEqual([
          parameter,
          value,
          expect.stringContaining(parameter),
        ]);
    }
  });

  test("none may be missing, malformed or without prices of the store", () => {
    const { update } = updated("distribution");
    const validate = (params?: object) => () => update.validate(create(update.input, { params } as never));
    expect(validate()).toThrow("params: missing");
    expect(validate({ communityTax: "much" })).toThrow("params: a value of it is malformed");
    const auth = updated("auth");
    expect(refusal(auth, { ...auth.defaults, store_gas: null })).toContain("params.store_gas: missing");
  });

  test.each(Object.entries(ENDS))("of %s are refused when a proposal with them comes to the mempool", (name, table) => {
    const chain = testChain();
    const module = updated(name);
    const proposed = (json: JsonValue) => {
      const params = module.read(json);
      const message = create(module.update.input, { authority: GOVERNANCE, params } as never);
      return chain.app.checkTx({ tx: proposalTx(chain, message), kind: "trial" });
    };
    expect(proposed(module.defaults)).toMatchObject({ code: 0 });
    for (const [parameter, { good, bad }] of Object.entries(table)) {
      for (const value of good)
        expect([parameter, value, proposed({ ...module.defaults, [parameter]: value }).log]).toEqual([
          parameter,
          value,
          "[]",
        ]);
      for (const value of bad) {
        const { code, codespace, log } = proposed({ ...module.defaults, [parameter]: value });
        expect([parameter, value, codespace, code, log]).toEqual([
          ...[parameter, value, "gov", name === "gov" ? 40 : 12],
          expect.stringContaining(parameter),
        ]);
      }
    }
  });
});

test.each(Object.keys(ENDS))("the state of %s without parameters begins with the defaults", (name) => {
  const whole = testChain().app.exportGenesis();
  const { genesis } = modules.find((each) => each.name === name) ?? {};
  if (genesis === undefined) throw new Error(`there is no module ${name}`);
  const defaults = toJson(genesis.schema, genesis.defaults(), { exact: true });
  const { params: _, ...rest } = Object(whole[name]);
  for (const given of [{}, { params: null }, { params: {} }]) {
    const app = createApp({ database: memoryDatabase() });
    const appState = { ...whole, [name]: { ...rest, ...given } };
    const place = { chainId: "again-1", time: 1n, initialHeight: 1n, validators: [] };
    app.initChain({ ...place, consensusParams: DEFAULT_CONSENSUS_PARAMS, appState });
    const block = { height: 1n, time: 2n, proposer: new Uint8Array(20), hash: new Uint8Array(32), txs: [] };
    app.finalizeBlock({ ...NO_VOTERS, ...block });
    app.commit();
    expect(app.exportGenesis()[name]).toMatchObject({ params: Object(defaults).params });
  }
});

function proposalTx(chain: TestChain, message: Message): Uint8Array {
  const from = chain.key("alice");
  const about = { proposer: from.address, title: "Parameters", summary: "beyond their ends" };
  const proposal = create(MsgSubmitProposalSchema, { ...about, messages: [toAny(message)] });
  return chain.sign(proposal, { from, gas: 10_000_000n });
}
