import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ShellSession } from "../../client/index.ts";
import { errorText, toUtf8 } from "../../util/index.ts";
import type { DeploymentKey, LeaseKey } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { Command, Known } from "../parts/blocks.tsx";
import { Strange } from "../parts/text.tsx";
import { type FromTerminal, readMessage, type ToTerminal } from "../terminal/messages.ts";
import { runningWords } from "../text/running.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { ForOwner, leaseKey, type OpenLease, openLease } from "./leases.tsx";
import { shownText } from "./lines.ts";
import { whyNoStream } from "./stream.tsx";

/** A shell in a container of a deployment, for its connected owner. */
export function Shell({ id }: { id: DeploymentKey }) {
  return (
    <ForOwner id={id}>
      {(account, leases) => <Places key={leases.map(leaseKey).join(" ")} id={id} account={account} leases={leases} />}
    </ForOwner>
  );
}

/** A replica that can run a command. */
interface Place {
  readonly lease: OpenLease;
  readonly service: string;
  readonly replica: number;
}

/** Places in one list. */
const MAX_PLACES = 200;

/** Replicas of all leases; a provider that does not answer hides only its own. */
async function loadPlaces(account: Wallet, leases: readonly LeaseKey[]): Promise<readonly Place[]> {
  const found = await Promise.allSettled(
    leases.map(async (id) => {
      const lease = await openLease(account, id);
      const { services } = await lease.gateway.leaseStatus(id);
      return Object.values(services).flatMap(({ name: service, total }) =>
        Array.from({ length: Math.min(total, MAX_PLACES) }, (_, replica): Place => ({ lease, service, replica })),
      );
    }),
  );
  const places = found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  const failed = found.find((each) => each.status === "rejected");
  if (places.length === 0 && failed !== undefined) throw failed.reason;
  return places.slice(0, MAX_PLACES);
}

interface PlacesProps {
  readonly id: DeploymentKey;
  readonly account: Wallet;
  readonly leases: readonly LeaseKey[];
}

function Places({ id, account, leases }: PlacesProps) {
  const answer = useAsk(() => loadPlaces(account, leases), { key: leases.map(leaseKey).join(" ") });
  return (
    <Known answer={answer}>
      {(places) =>
        places.length === 0 ? <p class="none">{runningWords.noService}</p> : <AtPlace id={id} places={places} />
      }
    </Known>
  );
}

const nameOf = ({ service, replica }: Place): string => `${shownText(service.slice(0, 100))}-${replica}`;

/** How a shell is. */
type ShellState =
  | { readonly kind: "starting" | "open" | "closed" }
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "notRun" | "lost"; readonly text: string };

/** The terminal, and the command that runs in it. */
class Running {
  readonly chosen = signal(0);
  readonly words = signal("sh");
  readonly state = signal<ShellState>({ kind: "starting" });
  readonly #places: readonly Place[];
  #frame: TerminalFrame | undefined;
  #abort = new AbortController();

  constructor(places: readonly Place[]) {
    this.#places = places;
  }

  /** Opens a shell as soon as there is a terminal for it. */
  begin(frame: TerminalFrame): void {
    this.#frame = frame;
    this.open();
  }

  /** Runs the command anew, in the place of the one before. */
  open(): void {
    this.close();
    const place = this.#places[this.chosen.peek()];
    const command = this.words.peek().trim().split(/\s+/).filter(Boolean);
    if (place === undefined || this.#frame === undefined) return;
    if (command.length === 0) {
      this.state.value = { kind: "notRun", text: runningWords.badCommand };
      return;
    }
    this.#abort = new AbortController();
    void runShell(place, { command, frame: this.#frame, state: this.state, signal: this.#abort.signal });
  }

  close(): void {
    this.#abort.abort();
  }

  copy(): void {
    this.#frame?.send({ kind: "copy" });
  }
}

function AtPlace({ id, places }: { id: DeploymentKey; places: readonly Place[] }) {
  const running = useMemo(() => new Running(places), []);
  useEffect(() => () => running.close(), []);
  const close = useRef<HTMLButtonElement>(null);
  const service = places[running.chosen.value]?.service ?? "";
  const own = ["shell", service, "-it", "--dseq", id.dseq, "--from", id.owner];
  return (
    <>
      <form
        class="row wishes"
        onSubmit={(event) => {
          event.preventDefault();
          running.open();
        }}
      >
        <Wishes running={running} places={places} />
        <button type="submit">{runningWords.open}</button>
        <button type="button" ref={close} onClick={() => running.close()}>
          {runningWords.close}
        </button>
        <button type="button" onClick={() => running.copy()}>
          {runningWords.copy}
        </button>
      </form>
      <p aria-live="polite">
        <Told state={running.state} />
      </p>
      <iframe
        class="terminal"
        title={runningWords.terminal}
        sandbox="allow-scripts"
        src="terminal.html"
        onLoad={({ currentTarget }) => running.begin(new TerminalFrame(currentTarget, () => close.current?.focus()))}
      />
      <p class="none">{runningWords.leave}</p>
      <Command program="svc deploy" words={[...own, ...running.words.value.split(" ").filter(Boolean)]} />
    </>
  );
}

function Wishes({ running, places }: { running: Running; places: readonly Place[] }) {
  return (
    <>
      <label>
        {runningWords.replica}{" "}
        <select
          onChange={(event) => {
            running.chosen.value = event.currentTarget.selectedIndex;
            running.open();
          }}
        >
          {places.map((each, index) => (
            <option key={index}>{nameOf(each)}</option>
          ))}
        </select>
      </label>
      <label>
        {runningWords.command}{" "}
        <input
          type="text"
          value="sh"
          maxLength={1000}
          autocomplete="off"
          onInput={(event) => {
            running.words.value = event.currentTarget.value;
          }}
        />
      </label>
    </>
  );
}

function Told({ state: { value } }: { state: Signal<ShellState> }) {
  const words = runningWords.shellState;
  if (value.kind === "ended") return <>{words.ended(value.code)}</>;
  if (value.kind === "notRun" || value.kind === "lost")
    return <Strange text={words[value.kind](value.text)} max={600} />;
  return <>{words[value.kind]}</>;
}

interface ShellWish {
  readonly command: readonly string[];
  readonly frame: TerminalFrame;
  readonly state: Signal<ShellState>;
  readonly signal: AbortSignal;
}

/** Runs a command at a place until it ends, and says how. Never rejects. */
async function runShell(
  { lease, service, replica }: Place,
  { command, frame, state, signal }: ShellWish,
): Promise<void> {
  const tell = (next: ShellState): void => {
    if (!signal.aborted) state.value = next;
  };
  signal.addEventListener("abort", () => {
    state.value = { kind: "closed" };
  });
  state.value = { kind: "starting" };
  frame.send({ kind: "reset" });
  try {
    const shell = await lease.gateway.shell(lease.id, { service, replica, command, tty: true, stdin: true });
    signal.addEventListener("abort", () => shell.close());
    if (signal.aborted) return shell.close();
    tell({ kind: "open" });
    tell(await attach(shell, frame, signal));
  } catch (error) {
    tell({ kind: "lost", text: errorText(await whyNoStream(lease, error)) });
  }
}

async function attach(shell: ShellSession, frame: TerminalFrame, signal: AbortSignal): Promise<ShellState> {
  frame.connect(shell);
  frame.send({ kind: "focus" });
  try {
    for await (const { data } of shell.output()) if (!signal.aborted) await frame.write(data);
    const { exitCode, message } = shell.result();
    return message === "" ? { kind: "ended", code: exitCode } : { kind: "notRun", text: message };
  } finally {
    frame.connect(undefined);
  }
}

/** Bytes that the terminal may have before it. */
const MAX_AHEAD = 1 << 19;

/** The frame of the terminal, as the page reaches it: over one port. */
class TerminalFrame {
  readonly #port: MessagePort;
  readonly #leave: () => void;
  #shell: ShellSession | undefined;
  #size: Extract<FromTerminal, { readonly kind: "size" }> | undefined;
  #ahead = 0;
  #wake: () => void = () => undefined;

  constructor(frame: HTMLIFrameElement, leave: () => void) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#leave = leave;
    port1.onmessage = ({ data }: MessageEvent<unknown>) => this.#hear(readMessage(data));
    // The frame has no origin of its own that could be named.
    frame.contentWindow?.postMessage("terminal", "*", [port2]);
  }

  send(message: ToTerminal): void {
    this.#port.postMessage(message);
  }

  /** The command that gets the input from now on. */
  connect(shell: ShellSession | undefined): void {
    this.#shell = shell;
    if (this.#size !== undefined) shell?.resize(this.#size.cols, this.#size.rows);
  }

  /** Resolves when the terminal has room for more. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#ahead += bytes.length;
    this.send({ kind: "output", bytes });
    while (this.#ahead > MAX_AHEAD) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #hear(message: FromTerminal | undefined): void {
    if (message?.kind === "input") this.#shell?.write(toUtf8(message.text));
    if (message?.kind === "leave") this.#leave();
    if (message?.kind === "selection") void navigator.clipboard.writeText(message.text).catch(() => undefined);
    if (message?.kind === "shown") {
      this.#ahead -= message.bytes;
      this.#wake();
    }
    if (message?.kind !== "size") return;
    this.#size = message;
    this.#shell?.resize(message.cols, message.rows);
  }
}
