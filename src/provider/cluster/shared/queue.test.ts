import { expect, it } from "vitest";
import { LineQueue } from "./queue.ts";

it("holds writers back while what waits for the reader is many items, or heavy ones", async () => {
  const big = "x".repeat(300_000);
  for (const [item, most] of [
    ["short", 1_000],
    [big, 4],
  ] as const) {
    const queue = new LineQueue<string>(({ length }) => length);
    let written = 0;
    const write = async () => {
      for (let index = 0; index < 1_010; index++) {
        await queue.push(item);
        written++;
      }
      queue.end();
    };
    const writing = write();
    await new Promise(setImmediate);
    expect(written).toBe(most);
    let read = 0;
    for await (const _ of queue) read++;
    await writing;
    expect(read).toBe(1_010);
  }
});
