import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedNode } from "./lib/attacked-node.ts";
import { unlimitedGas } from "./lib/large.ts";
import { pageCall, payMany } from "./lib/pages.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText } from "./lib/sockets.ts";

const SENDERS = Array.from({ length: 6 }, (_, i) => `sender ${i}`);
/** Budget of a batch and of a page; an answer that begins below it may end above. */
const BUDGET = 10 * 1024 * 1024;

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start({ names: ["mallory", "alice", ...SENDERS], editGenesis: unlimitedGas });
  await payMany(node, SENDERS);
});
afterAll(() => node?.close());

function batchOf(count: number, call: (id: number) => string): string {
  return `[${Array.from({ length: count }, (_, id) => call(id)).join(",")}]`;
}

describe("batches of calls with large answers", () => {
  it("of ten pages of all transactions end no process and stay within their budget", async () => {
    const call = batchOf(10, (id) => pageCall(100, id));
    const { status, bytes, text } = await ask(node.door, "/", call);
    expect(status).toBe(200);
    expect(bytes).toBeLessThan(2 * BUDGET);
    expect(text).toContain(`more than ${BUDGET} bytes; ask for fewer rows`);
    const fourTimes = () => Promise.all(Array.from({ length: 4 }, () => ask(node.door, "/", call)));
    await besiege(node, fourTimes, { memoryShare: 3 });
  });

  it("of twenty transactions answer what fits, and refuse the rest by its id", async () => {
    const { text, bytes } = await ask(
      node.door,
      "/",
      batchOf(20, (id) => pageCall(1, id)),
      { kept: 2 * BUDGET },
    );
    expect(bytes).toBeLessThan(2 * BUDGET);
    const answers: { id: number; result?: object; error?: { data: string } }[] = JSON.parse(text);
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, id) => id));
    expect(answers[0]?.result).toBeDefined();
    expect(answers[19]?.error?.data).toContain(`a batch may have ${BUDGET} bytes`);
  });

  it("are refused whole when they have too many calls or none", async () => {
    expect(
      (
        await ask(
          node.door,
          "/",
          batchOf(21, (id) => callText("health", {}, id)),
        )
      ).text,
    ).toContain("exceeds maximum (20)");
    expect((await ask(node.door, "/", "[]")).text).toContain("an empty batch");
    expect((await ask(node.door, "/", "[[]]")).text).toContain("must be a JSON object");
  });
});
