import type { MessageInitShape } from "@bufbuild/protobuf";
import { type BoundService, bindSome, type TxEnvironment, type TxRunner } from "../runtime/index.ts";
import { sdkErrors } from "../util/index.ts";
import { Service, type SimulateRequest, type SimulateResponseSchema } from "../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { TxSchema } from "../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { encodeMessage } from "../wire/index.ts";

/** The part of the transaction service that only the application can answer. */
export function simulation(runner: TxRunner, environment: () => TxEnvironment): BoundService {
  return bindSome(Service, { simulate: (_, request) => simulate(runner, environment(), request) });
}

/** The transaction comes as bytes, or decoded as older clients send it. */
function simulate(
  runner: TxRunner,
  env: TxEnvironment,
  { tx, txBytes }: SimulateRequest,
): MessageInitShape<typeof SimulateResponseSchema> {
  if (txBytes.length === 0 && tx === undefined)
    throw sdkErrors.invalidRequest("empty txBytes is not allowed: the request holds no transaction");
  // The decoded form has the same fields as the raw one, so its bytes are a transaction.
  const bytes = txBytes.length > 0 || tx === undefined ? txBytes : encodeMessage(TxSchema, tx);
  const { outcome, results } = runner.simulate(env, bytes);
  return {
    gasInfo: { gasWanted: outcome.gasWanted, gasUsed: outcome.gasUsed },
    result: {
      data: outcome.data,
      log: outcome.log,
      events: outcome.events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
      msgResponses: results.map((result) => result.response),
    },
  };
}
