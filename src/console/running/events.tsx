import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { GatewayEvent } from "../../client/index.ts";
import type { DeploymentKey, LeaseKey } from "../../wire/index.ts";
import { Command, Table } from "../parts/blocks.tsx";
import { State, Strange, Time } from "../parts/text.tsx";
import { runningWords } from "../text/running.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { ForOwner, leaseKey, openLease } from "./leases.tsx";
import { followStream, type StreamState, StreamStates } from "./stream.tsx";

/** Events of each lease that a page holds. */
const MAX_EVENTS = 500;

/** Events of the containers of a deployment as they come, newest first, for its connected owner. */
export function Events({ id }: { id: DeploymentKey }) {
  return (
    <>
      <ForOwner id={id}>
        {(account, leases) => <Lists key={leases.map(leaseKey).join(" ")} account={account} leases={leases} />}
      </ForOwner>
      <Command program="svc provider" words={["lease-events", "--follow", "--dseq", id.dseq, "--from", id.owner]} />
    </>
  );
}

type Known = ReadonlyMap<string, readonly GatewayEvent[]>;

function Lists({ account, leases }: { account: Wallet; leases: readonly LeaseKey[] }) {
  const states = useSignal<ReadonlyMap<string, StreamState>>(new Map());
  const events = useSignal<Known>(new Map());
  useEffect(() => {
    const abort = new AbortController();
    for (const id of leases) void follow(account, id, { states, events, signal: abort.signal });
    return () => abort.abort();
  }, []);
  const all = [...events.value.values()].flat().sort((a, b) => (a.time < b.time ? 1 : -1));
  return (
    <>
      <StreamStates states={states} />
      <Table
        name={runningWords.events}
        columns={[runningWords.time, runningWords.kind, runningWords.object, runningWords.reason, runningWords.note]}
        rows={all.map((event, index) => ({ event, key: `${all.length - index}` }))}
        keyOf={({ key }) => key}
        cells={({ event: { time, type, object, reason, note } }) => [
          <Time key="time" time={time} />,
          <State key="type" word={type} kind={type === "Warning" ? "bad" : "calm"} />,
          <Strange key="object" text={object.name} isName max={100} />,
          <Strange key="reason" text={reason} isName max={100} />,
          <Strange key="note" text={note} max={1000} />,
        ]}
      />
    </>
  );
}

interface Places {
  readonly states: Signal<ReadonlyMap<string, StreamState>>;
  readonly events: Signal<Known>;
  readonly signal: AbortSignal;
}

/** A stream that is opened again begins with all past events, so the list begins anew. */
function follow(account: Wallet, id: LeaseKey, { states, events, signal }: Places): Promise<void> {
  const key = leaseKey(id);
  let list: GatewayEvent[] = [];
  const tell = (state: StreamState): void => {
    if (!signal.aborted) states.value = new Map(states.peek()).set(key, state);
  };
  return followStream({
    open: () => openLease(account, id),
    read: ({ gateway }) => {
      list = [];
      return gateway.events(id, { services: [], follow: true, tail: -1, signal, onOpen: () => tell({ kind: "open" }) });
    },
    take: async (event) => {
      list = [...list, event].slice(-MAX_EVENTS);
      events.value = new Map(events.peek()).set(key, list);
      // A flood of events leaves the page time for its user.
      if (list.length === MAX_EVENTS) await new Promise((resolve) => setTimeout(resolve, 0));
    },
    tell,
    signal,
  });
}
