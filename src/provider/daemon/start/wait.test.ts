import { expect, test } from "vitest";
import { ChainClient } from "../../../client/index.ts";
import { createLogger } from "../../../util/index.ts";
import { untilAnswered } from "./wait.ts";

test("an interrupt ends a start at once whose node hangs", async () => {
  const client = new ChainClient("http://127.0.0.1:1");
  const interrupt = new AbortController();
  const log = createLogger({ level: "fatal", format: "plain", write: () => {} });
  const hangs = () => new Promise<never>(() => {});
  const started = untilAnswered(hangs, { client, log, signal: interrupt.signal });
  interrupt.abort(new Error("interrupted"));
  await expect(started).rejects.toThrow("interrupted");
  client.close();
});
