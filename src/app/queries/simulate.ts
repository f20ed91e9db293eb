import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AppQuery, logOf } from "../../abci/index.ts";
import { type BoundService, bindSome, type TxEnvironment, type TxRunner } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import {
  Service,
  type SimulateRequest,
  type SimulateResponseSchema,
} from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { TxSchema } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeBounded, encodeMessage, methodPath, toNamespace } from "../../wire/index.ts";

/** Gas of one simulation if blocks have no limit. */
const MAX_GAS = 50_000_000n;
const MAX_MESSAGES = 256;
const SIMULATE = methodPath(Service.method.simulate);
const SIMULATE_PATHS: ReadonlySet<string> = new Set([SIMULATE, toNamespace(SIMULATE, "cosmos")]);

/** Gives a simulation its turn, or refuses it; `checkTime` throws when its time is over. */
export type SimulationTurn = <T>(run: (checkTime: () => void) => T) => T;

/** Parts that simulations run on. */
export interface SimulationParts {
  readonly runner: TxRunner;
  readonly environment: () => TxEnvironment;
  /** Gas of a whole block now; a negative number means no limit. */
  readonly maxBlockGas: () => bigint;
  readonly turn: SimulationTurn;
}

/** The part of the transaction service that only the application can answer. */
export function simulation({ runner, environment, maxBlockGas, turn }: SimulationParts): BoundService {
  const run = (request: SimulateRequest) =>
    turn((checkTime) =>
      simulate(request, (bytes) =>
        runner.simulate(environment(), bytes, {
          maxGas: lesser(maxBlockGas(), MAX_GAS),
          maxMessages: MAX_MESSAGES,
          checkTime,
        }),
      ),
    );
  return bindSome(Service, { simulate: (_, request) => run(request) });
}

function lesser(limit: bigint, most: bigint): bigint {
  return limit < 0n || limit > most ? most : limit;
}

export function isSimulation({ path }: AppQuery): boolean {
  return SIMULATE_PATHS.has(path);
}

/** The signers of the transaction that a query simulates; none if it simulates nothing, or nothing that can be read. */
export function simulatedSigners(query: AppQuery, runner: TxRunner): readonly Uint8Array[] {
  if (!isSimulation(query)) return [];
  try {
    return runner.signers(simulatedBytes(decodeBounded(Service.method.simulate.input, query.data)));
  } catch {
    // The simulation itself reports the fault.
    return [];
  }
}

function simulate(
  request: SimulateRequest,
  run: (bytes: Uint8Array) => ReturnType<TxRunner["simulate"]>,
): MessageInitShape<typeof SimulateResponseSchema> {
  const { outcome, results } = run(simulatedBytes(request));
  return {
    gasInfo: { gasWanted: outcome.gasWanted, gasUsed: outcome.gasUsed },
    result: {
      data: outcome.data,
      log: logOf(outcome),
      events: outcome.events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
      msgResponses: results.map((result) => result.response),
    },
  };
}

/** The transaction comes as bytes, or decoded as older clients send it. */
function simulatedBytes({ tx, txBytes }: SimulateRequest): Uint8Array {
  if (txBytes.length === 0 && tx === undefined)
    throw sdkErrors.invalidRequest("empty txBytes is not allowed: the request holds no transaction");
  // The decoded form has the same fields as the raw one, so its bytes are a transaction.
  return txBytes.length > 0 || tx === undefined ? txBytes : encodeMessage(TxSchema, tx);
}
