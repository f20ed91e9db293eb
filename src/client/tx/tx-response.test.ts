import { describe, expect, test } from "vitest";
import recorded from "../../../test/vectors/cli-live-sdk042.json" with { type: "json" };
import withdrawalVector from "../../../test/vectors/tx-withdraw-sdk042.json" with { type: "json" };
import { fromHex, toHex } from "../../util/index.ts";
import { TxMsgDataSchema } from "../../wire/gen/sdk/base/abci/v1beta1/abci_pb.js";
import { decodeMessage, fromJson, printJson, readJson, toJson, wireErrors } from "../../wire/index.ts";
import { parseLogs, TxResponseSchema } from "./tx-response.ts";

/** Results of transactions as the reference tool printed them. */
const results = recorded.flatMap(({ args, stdout }) => {
  const isResult = stdout.startsWith('{"height"') && stdout.includes('"txhash"');
  return isResult ? [[args.slice(0, 3).join(" "), readJson(stdout.trim()), stdout.trim()] as const] : [];
});
const withdrawal = readJson(withdrawalVector.stdout.trim());
const all = [...results, ["tx distribution withdraw-rewards", withdrawal, withdrawalVector.stdout.trim()] as const];

describe("recorded results", () => {
  test("are of transfers, delegations and withdrawals", () => {
    expect(new Set(all.map(([words]) => words))).toEqual(
      new Set([
        ...["tx bank send", "tx staking delegate", "tx staking unbond", "tx distribution withdraw-rewards"],
        "query tx C26B9A5D484A0AD8216BB528F8DD41730027CDE16DD1E95C44C0632D43611EB6",
      ]),
    );
    expect(all.length).toBeGreaterThanOrEqual(14);
  });

  test.each(all)("%s is read and printed again the same", (_, json, text) => {
    const response = fromJson(TxResponseSchema, json);
    expect(printJson(toJson(TxResponseSchema, response))).toBe(text);
  });

  test.each(all)("%s has the logs of its log text", (_, json) => {
    const { rawLog, logs, code } = fromJson(TxResponseSchema, json);
    expect(parseLogs(rawLog)).toEqual(logs);
    if (code !== 0) expect(logs).toEqual([]);
  });

  test("two messages have two entries, of which the text numbers the second alone", () => {
    const { logs, rawLog, data } = fromJson(TxResponseSchema, withdrawal);
    expect(logs.map(({ msgIndex }) => msgIndex)).toEqual([0, 1]);
    expect(rawLog.match(/msg_index/g)).toHaveLength(1);
    const messages = decodeMessage(TxMsgDataSchema, Uint8Array.from(fromHex(data)), wireErrors.malformed).data;
    const types = ["withdraw_delegator_reward", "withdraw_validator_commission"];
    expect(messages.map(({ msgType }) => msgType)).toEqual(types);
    expect(messages.map((each) => toHex(each.data))).toEqual(["", ""]);
  });
});
