import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { emptyContext } from "../../../test/support/chain/index.ts";
import { testKey } from "../../testing/index.ts";
import {
  QueryDenomOwnersRequestSchema,
  QueryDenomOwnersResponseSchema,
} from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { authModule } from "../auth/index.ts";
import { BankKeeper } from "./index.ts";
import { bankQueries } from "./queries.ts";

test("holders of a rare denomination among many accounts come in pages that end early", () => {
  const ctx = emptyContext("bank");
  const keeper = new BankKeeper(authModule().keeper);
  const method = bankQueries(keeper).methods.get("DenomOwners");
  const ask = (pagination: { readonly key?: Uint8Array; readonly countTotal?: boolean }) => {
    const answer = method?.handle(ctx, create(QueryDenomOwnersRequestSchema, { denom: "rare", pagination }));
    return create(QueryDenomOwnersResponseSchema, answer);
  };
  for (let i = 0; i <= 50_000; i++) keeper.setBalance(ctx, numbered(i), { denom: "common", amount: 1n });
  const last = new Uint8Array(20).fill(255);
  for (const owner of [numbered(3), last]) keeper.setBalance(ctx, owner, { denom: "rare", amount: 5n });

  const first = ask({});
  expect(first.denomOwners).toHaveLength(1);
  const second = ask({ key: first.pagination?.nextKey ?? new Uint8Array() });
  expect(second.denomOwners).toHaveLength(1);
  expect(second.pagination?.nextKey).toHaveLength(0);
  expect(() => ask({ countTotal: true })).toThrow("more than 50000 rows would be walked past");
});

function numbered(at: number): Uint8Array {
  const bytes = Uint8Array.from(testKey("many").bytes);
  new DataView(bytes.buffer).setUint32(0, at);
  return bytes;
}
