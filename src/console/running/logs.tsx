import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { DeploymentKey, LeaseKey } from "../../wire/index.ts";
import { Command } from "../parts/blocks.tsx";
import { grouped } from "../parts/text.tsx";
import { runningWords } from "../text/running.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { ForOwner, leaseKey, openLease } from "./leases.tsx";
import { type Level, LineStore, type LogLine } from "./lines.ts";
import { followStream, type StreamState, StreamStates } from "./stream.tsx";

/** Lines of the past with which a page begins, of each replica. */
const TAIL = 500;
/** Lines that are drawn at first, and how many more each wish for earlier ones draws. */
const DRAWN = 200;
/** Least time between two drawings of what came. */
const DRAW_MS = 200;
/** Drawing takes at most one part in so many of the page's time, however many lines come. */
const DRAW_SHARE = 5;
/** Lines that are taken, in about five milliseconds, before the page may do something else. */
const SLICE = 500;

/** Live lines of all services of a deployment, for its connected owner. */
export function Logs({ id }: { id: DeploymentKey }) {
  return (
    <>
      <ForOwner id={id}>
        {(account, leases) => <Lines key={leases.map(leaseKey).join(" ")} account={account} leases={leases} />}
      </ForOwner>
      <Command program="svc deploy" words={["logs", "-f", "--dseq", id.dseq, "--from", id.owner]} />
    </>
  );
}

interface Shown {
  readonly lines: readonly LogLine[];
  readonly matches: number;
  readonly received: number;
  readonly held: number;
}

const NOTHING: Shown = { lines: [], matches: 0, received: 0, held: 0 };

/** Wishes of the reader. */
class Wishes {
  readonly search = signal("");
  readonly level = signal<Level>("other");
  readonly isPrevious = signal(false);
  /** Lines that had been received when the reader paused. */
  readonly pausedAt = signal<number | undefined>(undefined);
  readonly most = signal(DRAWN);
}

function Lines({ account, leases }: { account: Wallet; leases: readonly LeaseKey[] }) {
  const store = useMemo(() => new LineStore(), []);
  const wishes = useMemo(() => new Wishes(), []);
  const states = useSignal<ReadonlyMap<string, StreamState>>(new Map());
  const shown = useSignal(NOTHING);
  const isPrevious = wishes.isPrevious.value;
  useEffect(() => follow(store, { account, leases, states, isPrevious }), [isPrevious]);
  useEffect(() => draw(store, wishes, shown), []);
  return (
    <>
      <Controls wishes={wishes} store={store} />
      <StreamStates states={states} />
      <Drawn shown={shown} wishes={wishes} />
    </>
  );
}

/** Draws what came, a few times a second at most; returns the function that ends it. */
function draw(
  store: LineStore,
  { search, level, pausedAt, most, isPrevious }: Wishes,
  shown: Signal<Shown>,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let drawn = "";
  const again = (began: number): void => {
    if (isOver) return;
    timer = setTimeout(run, Math.max(DRAW_MS, DRAW_SHARE * (performance.now() - began)));
  };
  const run = (): void => {
    const began = performance.now();
    const filter = { search: search.peek(), level: level.peek(), until: pausedAt.peek() };
    const state = [store.received, isPrevious.peek(), most.peek(), ...Object.values(filter)].join(" ");
    if (state === drawn || document.hidden) {
      again(began);
      return;
    }
    drawn = state;
    shown.value = { ...store.find(filter, most.peek()), received: store.received, held: store.held };
    // The browser lays the lines out before it comes to the next task.
    requestAnimationFrame(() => setTimeout(() => again(began), 0));
  };
  run();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function Controls({ wishes, store }: { wishes: Wishes; store: LineStore }) {
  const { search, level, isPrevious, pausedAt } = wishes;
  return (
    <div class="row wishes">
      <label>
        {runningWords.search}{" "}
        <input
          type="search"
          maxLength={200}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
      </label>
      <label>
        {runningWords.level}{" "}
        <select
          onChange={(event) => {
            level.value = levelOfChoice(event.currentTarget.value);
          }}
        >
          {LEVELS.map((each) => (
            <option key={each} value={each}>
              {runningWords.levels[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          onChange={(event) => {
            isPrevious.value = event.currentTarget.checked;
          }}
        />{" "}
        {runningWords.previous}
      </label>
      <button
        type="button"
        aria-pressed={pausedAt.value !== undefined}
        onClick={() => {
          pausedAt.value = pausedAt.value === undefined ? store.received : undefined;
        }}
      >
        {pausedAt.value === undefined ? runningWords.pause : runningWords.resume}
      </button>
      <button type="button" onClick={() => save(store)}>
        {runningWords.save}
      </button>
    </div>
  );
}

const LEVELS = ["other", "warning", "error"] as const;

function levelOfChoice(value: string): Level {
  return LEVELS.find((each) => each === value) ?? "other";
}

/** Distance from the end within which the view follows new lines. */
const NEAR_PX = 40;

function Drawn({ shown, wishes: { pausedAt, most } }: { shown: Signal<Shown>; wishes: Wishes }) {
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useSignal(true);
  const { lines, matches, received, held } = shown.value;
  const toEnd = (): void => {
    isAtEnd.value = true;
    list.current?.scrollTo(0, list.current.scrollHeight);
  };
  useEffect(() => {
    if (isAtEnd.peek()) toEnd();
  }, [lines]);
  const parts = [
    runningWords.counts(grouped(lines.length), grouped(matches), grouped(received)),
    ...(received > held ? [runningWords.dropped(grouped(received - held))] : []),
    ...(pausedAt.value === undefined ? [] : [runningWords.new(grouped(received - pausedAt.value))]),
  ];
  return (
    <>
      <p class="row none">
        <span>{parts.join(" – ")}</span>
        {matches > lines.length && (
          <button
            type="button"
            onClick={() => {
              most.value += DRAWN;
            }}
          >
            {runningWords.earlier}
          </button>
        )}
        {!isAtEnd.value && (
          <button type="button" onClick={toEnd}>
            {runningWords.toEnd}
          </button>
        )}
      </p>
      {lines.length === 0 && <p class="none">{held === 0 ? runningWords.none : runningWords.noMatch}</p>}
      <ol
        class="log"
        ref={list}
        aria-label={runningWords.lines}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keys.
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.value = scrollHeight - scrollTop - clientHeight < NEAR_PX;
        }}
      >
        {lines.map((line) => (
          <li key={line.serial} class={line.level}>
            {line.time !== "" && <span class="when">{line.time.slice(11, 23)} </span>}
            <b class={`from from-${hueOf(line.from)}`}>{line.from}</b> {line.text}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Colours that replicas share by their names. */
const HUES = 6;

function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return sum % HUES;
}

interface Following {
  readonly account: Wallet;
  readonly leases: readonly LeaseKey[];
  readonly states: Signal<ReadonlyMap<string, StreamState>>;
  readonly isPrevious: boolean;
}

/** Takes the lines of all leases; returns the function that ends it. */
function follow(store: LineStore, { account, leases, states, isPrevious }: Following): () => void {
  store.clear();
  const abort = new AbortController();
  let taken = 0;
  for (const id of leases) {
    const tell = (state: StreamState): void => {
      if (!abort.signal.aborted) states.value = new Map(states.peek()).set(leaseKey(id), state);
    };
    void followStream({
      open: () => openLease(account, id),
      read: ({ gateway }) => {
        const onRetry = (error: Error) => tell({ kind: "lost", error });
        const request = { services: [], tail: isPrevious ? -1 : TAIL, follow: !isPrevious, previous: isPrevious };
        return gateway.logs(id, { ...request, signal: abort.signal, onOpen: () => tell({ kind: "open" }), onRetry });
      },
      take: async (line) => {
        store.push(line);
        taken += 1;
        if (taken % SLICE === 0 && !document.hidden) await new Promise((resolve) => setTimeout(resolve, 0));
      },
      tell,
      signal: abort.signal,
    });
  }
  return () => abort.abort();
}

function save(store: LineStore): void {
  const url = URL.createObjectURL(new Blob([store.asText()], { type: "text/plain" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = "svc-logs.txt";
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
