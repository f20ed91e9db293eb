import { expect, test } from "vitest";
import { run } from "./command.ts";

test("what a tool says of very many rules is read whole", async () => {
  const text = await run(process.execPath, ["-e", "process.stdout.write('x'.repeat(20 << 20))"]);
  expect(text.length).toBe(20 << 20);
});
