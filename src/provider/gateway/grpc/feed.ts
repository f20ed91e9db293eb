import { setTimeout as sleep } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { type Status, StatusSchema } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import { Memo } from "../access/memo.ts";

/** A status, and its identity without the time. */
interface Seen {
  readonly status: Status;
  readonly mark: string;
}

export interface FeedOptions {
  readonly read: () => Promise<Status>;
  /** Milliseconds between two looks; all who look at once share one. */
  readonly everyMs: number;
  readonly now: () => number;
}

/** The status, for single answers and for subscribers of each change. */
export class StatusFeed {
  readonly #options: FeedOptions;
  readonly #seen: Memo<Seen>;

  constructor(options: FeedOptions) {
    const { read, everyMs, now } = options;
    this.#options = options;
    const look = async (): Promise<Seen> => {
      const status = await read();
      const { timestamp: _, ...rest } = status;
      return { status, mark: Buffer.from(toBinary(StatusSchema, rest)).toString("latin1") };
    };
    this.#seen = new Memo(look, everyMs / 2, now);
  }

  async latest(): Promise<Status> {
    return (await this.#seen.get("")).status;
  }

  /**
   * The status at once and after each change, until the signal is aborted, whose reason it throws. A slow reader misses
   * intermediate states, so nothing waits for it.
   */
  async *changes(signal: AbortSignal): AsyncGenerator<Status> {
    let last: string | undefined;
    while (!signal.aborted) {
      const { status, mark } = await this.#seen.get("");
      if (mark !== last) yield status;
      last = mark;
      await sleep(this.#options.everyMs, undefined, { signal }).catch(() => {});
    }
    throw signal.reason;
  }
}
