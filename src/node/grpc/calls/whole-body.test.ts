import type { DescMessage } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { QueryParamsRequestSchema } from "../../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { BroadcastTxRequestSchema, TxEncodeRequestSchema } from "../../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { ByteBudget } from "../../http/index.ts";
import { type BodyOptions, countedBody } from "./whole-body.ts";

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

const INPUT = QueryParamsRequestSchema;

function options(limit = 10_000_000, input: BodyOptions["input"] = INPUT) {
  return { held: new ByteBudget(limit).begin(() => {}), maxMessageBytes: MAX_BYTES, input };
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
  expect(await received(countedBody(request(3, []), { ...options(), input: undefined }))).toEqual([1, 1, 1]);
});

it("breaks off where there is no room", async () => {
  await expect(received(countedBody(request(500, []), options(100)))).rejects.toThrow("too many requests");
});

describe("a message that the library would take long to decode", () => {
  const MIB = 1 << 20;
  const check = (input: DescMessage, type: string, body: Uint8Array | string) => {
    const asked = request(0, []);
    const bytes = Buffer.from(body);
    async function* whole() {
      yield new Uint8Array(bytes);
    }
    const header = new Headers({ "content-type": type });
    const given = { held: new ByteBudget(4 * MIB).begin(() => {}), maxMessageBytes: 2 * MIB, input };
    return received(countedBody({ ...asked, header, body: whole() }, given));
  };
  const frame = (message: string) => {
    const bytes = Buffer.alloc(5 + message.length);
    bytes.writeUInt32BE(message.length, 1);
    bytes.write(message, 5);
    return bytes;
  };
  const deep = `{"pagination":${"[".repeat(200)}`;

  it.each([
    ["application/json", deep],
    ["application/json; charset=utf-8", deep],
    ["application/grpc+json", frame(deep)],
    ["application/grpc-web+json", frame(deep)],
    ["application/connect+json", frame(deep)],
  ])("is refused for its depth as %s", async (type, body) => {
    await expect(check(INPUT, type, body)).rejects.toThrow("values in one another");
  });

  it("is refused for its values, in JSON and in fields", async () => {
    const infos = `{"tx":{"auth_info":{"signer_infos":[${"{},".repeat(40_000)}{}]}}}`;
    await expect(check(TxEncodeRequestSchema, "application/json", infos)).rejects.toThrow("32768 values");
    const anys = Buffer.concat([Buffer.of(0x0a, 0xc0, 0x84, 0x3d), Buffer.alloc(1_000_000, Buffer.of(0x1a, 0))]);
    await expect(check(TxEncodeRequestSchema, "application/proto", anys)).rejects.toThrow("32768 fields");
  });

  it("is refused for a number of very many digits", async () => {
    const fee = `{"tx":{"auth_info":{"fee":{"gas_limit":"${"1".repeat(MIB)}"}}}}`;
    await expect(check(TxEncodeRequestSchema, "application/json", fee)).rejects.toThrow("an integer was expected");
  });

  it("is not refused with a long transaction", async () => {
    const tx = JSON.stringify({ tx_bytes: "A".repeat(MIB) });
    expect(await check(BroadcastTxRequestSchema, "application/json", tx)).toEqual([tx.length]);
  });

  it("is refused if it is not alone in its frame", async () => {
    const two = Buffer.concat([frame("{}"), frame(deep)]);
    await expect(check(INPUT, "application/grpc-web+json", two)).rejects.toThrow("more than one message");
  });
});
