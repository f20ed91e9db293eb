import type { EngineEvent, PublishedEvent } from "../../../engine/index.ts";
import { toBase64 } from "../../../util/index.ts";
import {
  blockIdJson,
  blockJson,
  eventsJson,
  headerJson,
  paramUpdatesJson,
  txResultJson,
  validatorUpdateJson,
} from "./json.ts";

/** The parts of a subscriber's frame that do not depend on the subscription. */
export interface EventFrame {
  readonly data: string;
  readonly events: string;
}

/** Makes the frame of an event; called once, however many subscribers it has. */
export function eventFrame({ event, attributes }: PublishedEvent): EventFrame {
  const data = { type: `tendermint/event/${event.type}`, value: eventValue(event) };
  return { data: JSON.stringify(data), events: JSON.stringify(Object.fromEntries(attributes)) };
}

function eventValue(event: EngineEvent): unknown {
  if (event.type === "Tx") {
    const { height, index, tx, result } = event.tx;
    const place = { height: height.toString(), ...(index === 0 ? {} : { index }) };
    return { TxResult: { ...place, tx: toBase64(tx), result: withoutDefaults(txResultJson(result)) } };
  }
  if (event.type === "ValidatorSetUpdates") return { validator_updates: event.updates.map(validatorUpdateJson) };
  const { block, commit, events, txResults, validatorUpdates, consensusParamUpdates, appHash } = event.block;
  if (event.type === "NewBlockHeader") return { header: headerJson(block.header) };
  if (event.type === "NewBlockEvents") {
    return { height: block.header.height.toString(), events: eventsJson(events), num_txs: block.txs.length.toString() };
  }
  return {
    block: blockJson(block),
    block_id: blockIdJson(commit.blockId),
    result_finalize_block: {
      events: eventsJson(events),
      tx_results: txResults.map(txResultJson),
      validator_updates: validatorUpdates.map(validatorUpdateJson),
      ...(consensusParamUpdates === undefined
        ? {}
        : { consensus_param_updates: paramUpdatesJson(consensusParamUpdates) }),
      app_hash: toBase64(appHash),
    },
  };
}

/** Subscribers get results without fields of the default value. */
function withoutDefaults(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isDefault = (value: unknown): boolean => value === 0 || value === "" || value === null || value === "0";
  return Object.fromEntries(Object.entries(result).filter(([, value]) => !isDefault(value)));
}
