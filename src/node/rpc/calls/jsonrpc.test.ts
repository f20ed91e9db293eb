import { describe, expect, it } from "vitest";
import { Turns, UnreadBytes } from "../../http/index.ts";
import { answerText } from "./jsonrpc.ts";
import { defineMethod, type RpcEnvironment } from "./method.ts";

const LARGE = "x".repeat(60);
/** Room for one answer of it with what stands around it, not for two. */
const LIMIT = 150;

/** No method of these tests looks at the chain. */
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
  const unfinished = new UnreadBytes(LIMIT);
  return { finish, unfinished, options: { methods, maxBatch: 20, turns: new Turns(), unfinished } };
}

const batch = (...methods: string[]): string => JSON.stringify(methods.map((method, id) => ({ id, method })));

interface Answer {
  readonly result?: string;
  readonly error?: { readonly data: string };
}

describe("answers of batches that are not complete", () => {
  it("are held up to a limit for all clients, and no longer than until the batch is answered", async () => {
    const { finish, unfinished, options } = dispatch();
    const answers = async (...methods: string[]): Promise<Answer[]> =>
      JSON.parse((await answerText(NOTHING, batch(...methods), options)) ?? "[]");
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
