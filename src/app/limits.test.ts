import { expect, it } from "vitest";
import { MAX_PERIOD_COINS, MAX_VESTING_DENOMS, MAX_VESTING_PERIODS } from "../modules/auth/vesting/schedule.ts";
import { MAX_PRUNED as MAX_PRUNED_GRANTS } from "../modules/authz/keeper.ts";
import { MAX_LISTED } from "../modules/authz/kinds/lists.ts";
import { MAX_FAR_NUMBERS } from "../modules/deployment/pruning.ts";
import { MAX_ALLOWED_MESSAGES, MAX_LIMIT_COINS, MAX_TYPE_URL_CHARACTERS } from "../modules/feegrant/allowance.ts";
import { MAX_PRUNED as MAX_PRUNED_ALLOWANCES, MAX_PRUNED_BY_MESSAGE } from "../modules/feegrant/keeper.ts";
import { MAX_GENESIS_TXS } from "../modules/genutil/keeper.ts";
import * as gov from "../modules/gov/limits.ts";
import { MAX_BIDS_CAP } from "../modules/market/params.ts";
import { MAX_AMINO_BYTES } from "../runtime/ante/payer.ts";
import { MAX_GAS_PRICE } from "../runtime/gas/message-gas.ts";
import { MOST_SUPPLY } from "../runtime/requests/governable.ts";
import { MAX_MESSAGE_NESTING, MAX_NESTED_MESSAGES } from "../runtime/run/service.ts";
import { MAX_KEY_BYTES } from "../store/kv.ts";
import { MAX_MESSAGE_DEPTH } from "../wire/codec/decode.ts";
import {
  MAX_ANY_COUNT,
  MAX_ANY_DEPTH,
  MAX_BYTES_BESIDE_BODY,
  MAX_TX_BYTES,
  MAX_TX_FIELDS,
  MAX_TX_ITEMS,
} from "../wire/tx/strict.ts";

/** Nodes that disagree about one limit make different blocks; other tests know them by their names. */
it("limits of consensus have the values that nodes agree on", () => {
  expect({ ...gov }).toEqual({
    MAX_METADATA: 255,
    MAX_SUMMARY: 10_200,
    MAX_OLD_TITLE: 140,
    MAX_OLD_DESCRIPTION: 10_000,
    MAX_CHANGES: 100,
    MAX_REASON: 1000,
    BLOCK_WORK: 4000,
    EXECUTION_WORK: 1000,
    EXECUTION_GAS: 30_000_000n,
  });
  const known: readonly (readonly [number | bigint, number | bigint])[] = [
    [MAX_ALLOWED_MESSAGES, 50],
    [MAX_AMINO_BYTES, 65_536],
    [MAX_ANY_COUNT, 100],
    [MAX_ANY_DEPTH, 10],
    [MAX_BIDS_CAP, 500],
    [MAX_BYTES_BESIDE_BODY, 32_768],
    [MAX_FAR_NUMBERS, 64],
    [MAX_GAS_PRICE, 1_000_000_000_000n],
    [MAX_GENESIS_TXS, 1000],
    [MAX_KEY_BYTES, 1024],
    [MAX_LIMIT_COINS, 20],
    [MAX_LISTED, 1000],
    [MAX_MESSAGE_DEPTH, 64],
    [MAX_MESSAGE_NESTING, 6],
    [MAX_NESTED_MESSAGES, 100],
    [MAX_PERIOD_COINS, 1000],
    [MAX_PRUNED_ALLOWANCES, 200],
    [MAX_PRUNED_BY_MESSAGE, 75],
    [MAX_PRUNED_GRANTS, 200],
    [MAX_TX_BYTES, 1_048_576],
    [MAX_TX_FIELDS, 100_000],
    [MAX_TX_ITEMS, 4096],
    [MAX_TYPE_URL_CHARACTERS, 128],
    [MAX_VESTING_DENOMS, 100],
    [MAX_VESTING_PERIODS, 500],
    [MOST_SUPPLY, (2n ** 60n - 1n) * 1_000_000n],
  ];
  expect(known.map(([limit]) => limit)).toEqual(known.map(([, value]) => value));
});
