import { create } from "@bufbuild/protobuf";
import type { TxEnvironment, TxRunner } from "../runtime/index.ts";
import { sdkErrors } from "../util/index.ts";
import { SimulateRequestSchema, SimulateResponseSchema } from "../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { TxSchema } from "../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeMessage } from "../wire/index.ts";

/** Answers `Service/Simulate`. The transaction comes as bytes, or decoded as older clients send it. */
export function simulate(runner: TxRunner, env: TxEnvironment, request: Uint8Array): Uint8Array {
  const { tx, txBytes } = decodeMessage(SimulateRequestSchema, request, sdkErrors.invalidRequest);
  if (txBytes.length === 0 && tx === undefined)
    throw sdkErrors.invalidRequest("empty txBytes is not allowed: the request holds no transaction");
  // The decoded form has the same fields as the raw one, so its bytes are a transaction.
  const bytes = txBytes.length > 0 || tx === undefined ? txBytes : encodeMessage(TxSchema, tx);
  const { outcome, results } = runner.simulate(env, bytes);
  const response = create(SimulateResponseSchema, {
    gasInfo: { gasWanted: outcome.gasWanted, gasUsed: outcome.gasUsed },
    result: {
      data: outcome.data,
      log: outcome.log,
      events: outcome.events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
      msgResponses: results.map((result) => result.response),
    },
  });
  return encodeMessage(SimulateResponseSchema, response);
}
