import { createContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { expect, it } from "vitest";
import { ByteBudget } from "../../http/index.ts";
import { countedBody } from "./whole-body.ts";

const MAX_BYTES = 1_000;

function request(parts: number, sent: number[]): UniversalServerRequest {
  async function* body() {
    for (let i = 0; i < parts; i++) {
      sent.push(i);
      yield Uint8Array.of(i % 256);
    }
  }
  const signal = new AbortController().signal;
  const head = { httpVersion: "2", url: "http://x/y", method: "POST", header: new Headers() };
  return { ...head, body: body(), signal, contextValues: createContextValues() };
}

async function received(asked: UniversalServerRequest): Promise<number[]> {
  const lengths: number[] = [];
  for await (const part of asked.body as AsyncIterable<Uint8Array>) lengths.push(part.length);
  return lengths;
}

function options(limit = 10_000, asItComes = false) {
  return { held: new ByteBudget(limit).begin(() => {}), maxMessageBytes: MAX_BYTES, asItComes };
}

it("hands over a body of many parts in one piece", async () => {
  expect(await received(countedBody(request(500, []), options()))).toEqual([500]);
});

it("reads no more of a body that is too long than proves it", async () => {
  const sent: number[] = [];
  expect(await received(countedBody(request(5_000, sent), options()))).toEqual([MAX_BYTES + 6]);
  expect(sent).toHaveLength(MAX_BYTES + 6);
});

it("hands over the parts of a conversation as they come", async () => {
  expect(await received(countedBody(request(3, []), options(10_000, true)))).toEqual([1, 1, 1]);
});

it("breaks off where there is no room", async () => {
  await expect(received(countedBody(request(500, []), options(100)))).rejects.toThrow("too many requests");
});
