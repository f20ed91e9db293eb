import { describe, expect, it } from "vitest";
import { ByteBudget } from "../../http/index.ts";
import { answerText } from "./jsonrpc.ts";
import { defineMethod, type RpcEnvironment } from "./method.ts";

const LARGE = "x".repeat(60);
/** Room for one such answer with its envelope, not for two. */
const LIMIT = 150;

/** The methods of these tests never look at the chain. */
const NOTHING = {} as RpcEnvironment;

function dispatch() {
  let finish = (): void => {};
  const until = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const methods = new Map([
    ["large", defineMethod({}, () => LARGE)],
    ["slow", defineMethod({}, () => until.then(() => "done"))],
  ]);
  const unfinished = new ByteBudget(LIMIT);
  return { finish, unfinished, options: { methods, maxBatch: 20, unfinished } };
}

const batch = (...methods: string[]): string => JSON.stringify(methods.map((method, id) => ({ id, method })));

interface Answer {
  readonly result?: string;
  readonly error?: { readonly message: string; readonly data: string };
}

describe("answers of batches that are not complete", () => {
  it("are held up to a limit for all clients, and no longer than until the batch is answered", async () => {
    const { finish, unfinished, options } = dispatch();
    const answers = async (...methods: string[]): Promise<Answer[]> =>
      JSON.parse((await answerText(batch(...methods), { env: NOTHING, options })) ?? "[]");
    const waiting = answers("large", "slow");
    while (unfinished.held === 0) await new Promise(setImmediate);
    const [refused] = await answers("large");
    expect(refused?.error?.data).toContain("ask for less at a time");
    finish();
    expect((await waiting)[0]?.result).toBe(LARGE);
    expect(unfinished.held).toBe(0);
    expect((await answers("large"))[0]?.result).toBe(LARGE);
  });
});

describe("long requests", () => {
  const ask = async (method: string, params: string): Promise<Answer> => {
    const text = `{"id":1,"method":"${method}","params":${params}}`;
    return JSON.parse((await answerText(text, { env: NOTHING, options: dispatch().options })) ?? "");
  };
  const long = JSON.stringify({ tx: "A".repeat(70_000) });

  it("are taken with a transaction, alone and in a batch", async () => {
    expect((await ask("check_tx", long)).error?.message).toBe("Method not found");
    const text = `[{"id":1,"method":"large"},{"id":2,"method":"broadcast_tx_sync","params":${long}}]`;
    const answers = await answerText(text, { env: NOTHING, options: { ...dispatch().options, maxBatch: 2 } });
    expect(JSON.parse(answers ?? "")).toMatchObject([{ result: LARGE }, { id: 2 }]);
  });

  it("are refused without one", async () => {
    expect((await ask("large", long)).error?.data).toBe("a request without a transaction may have 65536 bytes");
  });

  it.each([
    ["many values", `[${"{},".repeat(40_000)}1]`],
    ["many values in one another", "[".repeat(200) + "]".repeat(200)],
  ])("are refused for %s, with a transaction too", async (values, params) => {
    expect((await ask("check_tx", params)).error?.data).toMatch(new RegExp(`has more than \\d+ ${values.slice(5)}`));
  });
});

describe("the calls of a batch", () => {
  /** Half of the bytes that the answers of a batch may have. */
  const half = "x".repeat(6 << 20);

  it("are run one after the other, and no more of them when the answers are full", async () => {
    let [underWay, sideBySide, begun] = [0, 0, 0];
    const read = async () => {
      begun += 1;
      underWay += 1;
      sideBySide = Math.max(sideBySide, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return half;
    };
    const options = { ...dispatch().options, methods: new Map([["read", defineMethod({}, read)]]) };
    const whole = { ...options, unfinished: new ByteBudget(2 ** 27) };
    const answers: Answer[] = JSON.parse(
      (await answerText(batch(...Array(20).fill("read")), { env: NOTHING, options: whole })) ?? "[]",
    );
    expect(answers.map(({ error }) => error === undefined)).toEqual([true, ...Array(19).fill(false)]);
    expect([begun, sideBySide]).toEqual([2, 1]);
  });

  it("wait for blocks side by side", async () => {
    let waiting = 0;
    const wait = async () => {
      waiting += 1;
      while (waiting < 3) await new Promise(setImmediate);
      return "in a block";
    };
    const { options } = dispatch();
    const methods = new Map([["broadcast_tx_commit", defineMethod({}, wait)]]);
    const text = await answerText(batch(...Array(3).fill("broadcast_tx_commit")), {
      env: NOTHING,
      options: { ...options, methods },
    });
    const answers: Answer[] = JSON.parse(text ?? "[]");
    expect(answers.map(({ result }) => result)).toEqual(Array(3).fill("in a block"));
  });
});
