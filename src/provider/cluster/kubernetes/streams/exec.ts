import { errorText } from "../../../../util/index.ts";
import { clusterErrors, type ExecRequest, type ExecSession, replicaName } from "../../contract/index.ts";
import type { Channels } from "../api/channels.ts";
import type { Lease } from "../lease/lease.ts";
import { CONTAINER } from "../objects/index.ts";
import type { ObservedPod } from "../view/pods.ts";

/** A shell's exit code for a program that KILL ended. */
const KILLED = 137;
/** Milliseconds for the end of a command; then only the connection to it is cut. */
const KILL_MS = 10_000;

/**
 * Ends a command in its container, identified by its arguments: nodes leave it running when its connection is cut.
 * Commands from outside have no parent in the container; the first program is never one of them.
 */
const KILL_SCRIPT = `want=$(printf %s "$@")
for p in /proc/[0-9]*; do
  pid=\${p#/proc/}
  [ "$pid" = 1 ] && continue
  [ "$pid" = $$ ] && continue
  read -r stat < "$p/stat" || continue
  set -- \${stat##*) }
  [ "$2" = 0 ] || continue
  have=$(cat "$p/cmdline" | tr -d '\\000') || continue
  [ "$have" = "$want" ] && kill -9 "$pid" && exit 0
done 2>/dev/null
exit 1`;

/** Starts a command in a running replica. */
export async function openExec(lease: Lease, request: ExecRequest): Promise<ExecSession> {
  if (request.command.length === 0) throw clusterErrors.unsupported("no command to run");
  const pod = runningReplica(lease, request);
  const { command, tty, stdin } = request;
  const { api } = lease.context;
  const place = { namespace: pod.namespace, pod: pod.name, container: CONTAINER };
  const channels = await api.exec({ ...place, command, tty, stdin });
  const end = async (): Promise<void> => {
    const killer = await api.exec({
      ...place,
      command: ["sh", "-c", KILL_SCRIPT, "sh", ...command],
      tty: false,
      stdin: false,
    });
    for await (const _ of killer.output);
    await killer.exitCode;
  };
  return new Session(channels, () =>
    end().catch((error) =>
      lease.context.log.debug("a command was not ended in its container", { err: errorText(error) }),
    ),
  );
}

function runningReplica(lease: Lease, { service, replica }: ExecRequest): ObservedPod {
  const names = lease.spec.group.services.map(({ name }) => name);
  if (!names.includes(service)) {
    throw clusterErrors.noReplica(`service "${service}" is not in the lease, it has ${names.join(", ")}`);
  }
  const pod = lease.slots(service).get(replica);
  if (pod?.running !== true) throw clusterErrors.noReplica(replicaName(service, replica));
  return pod;
}

class Session implements ExecSession {
  readonly output: ExecSession["output"];
  readonly exitCode: Promise<number>;
  readonly #channels: Channels;
  readonly #end: () => Promise<void>;
  #killed = false;

  constructor(channels: Channels, end: () => Promise<void>) {
    this.#channels = channels;
    this.#end = end;
    this.output = channels.output;
    this.exitCode = channels.exitCode.catch((error: unknown) => {
      if (this.#killed) return KILLED;
      throw error;
    });
    this.exitCode.catch(() => {});
  }

  write(data: Uint8Array): Promise<void> {
    return this.#channels.write(data);
  }

  endInput(): void {
    this.#channels.endInput();
  }

  async resize(width: number, height: number): Promise<void> {
    this.#channels.resize(width, height);
  }

  kill(): void {
    if (this.#killed) return;
    this.#killed = true;
    const late = new Promise<void>((resolve) => {
      setTimeout(resolve, KILL_MS).unref();
    });
    void Promise.race([this.#end(), late]).then(() => this.#channels.close());
  }
}
