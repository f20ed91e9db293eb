import { expect, test } from "vitest";
import { Query as Consensus } from "../../../wire/gen/sdk/consensus/v1/query_pb.js";
import { Query as Gov } from "../../../wire/gen/sdk/gov/v1/query_pb.js";
import { Query as Staking } from "../../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { Query as Deployment } from "../../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { paramsAnswer } from "./params.ts";

test("parameters are proven by their record where the answer is that record alone", () => {
  expect(paramsAnswer("staking", Staking.method.params)).toBeDefined();
});

test.each([
  ["holds more", "deployment", Deployment.method.params],
  ["depends on the question", "gov", Gov.method.params],
  ["is stored in parts", "consensus", Consensus.method.params],
  ["is none of parameters", "staking", Staking.method.pool],
])("an answer that %s is not proven by the record of parameters", (_, module, method) => {
  expect(paramsAnswer(module, method)).toBeUndefined();
});
