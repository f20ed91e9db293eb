import { type MessagePort, parentPort } from "node:worker_threads";
import { AppReader, readTables, standardModules } from "../../app/index.ts";
import { CHAIN_TABLES, type ChainSource } from "../../engine/index.ts";
import { type DatabaseReader, openLmdbReader } from "../../store/index.ts";
import type { LogFields, Logger } from "../../util/index.ts";
import { homePaths } from "../home/home.ts";
import type { FromServing, ThreadData, ToServing } from "./entry.ts";
import { SLOW, UNBOUND } from "./limits.ts";
import { BlockThreadCalls } from "./link/calls.ts";
import { errorShape } from "./link/link.ts";
import { Budget } from "./reading/budget.ts";
import { ReadChain } from "./reading/chain.ts";
import { ReadEvents } from "./reading/events.ts";
import { openServers, type Servers } from "./servers/index.ts";
import { answersOf } from "./slow/answers.ts";
import { Desk } from "./slow/desk.ts";
import { type FromSlow, type SlowJob, SlowThread } from "./slow/slow-thread.ts";

interface Reading {
  readonly chain: ReadChain;
  /** The same without a budget, for the node's own work. */
  readonly whole: ChainSource;
  readonly app: AppReader;
  readonly tables: DatabaseReader;
}

/** The thread of the servers: it starts to listen, and ends, on request. */
export function serve(data: ThreadData, file: URL): void {
  const logger = threadLogger({});
  const { chain, whole, app, tables } = readingOf(data, logger);
  const slow = new SlowThread({ file, data, connect: (link) => send({ link }, [link]), log: (log) => send({ log }) });
  const desk = new Desk({ chain, whole, slow });
  let servers: Servers | undefined;
  const listen = async (): Promise<void> => {
    try {
      servers = await openServers({ ...data, logger, chain: whole, appRpcs: app.rpcs, desk });
      send({ listening: servers.addresses });
    } catch (error) {
      send({ refused: errorShape(error) });
    }
  };
  const close = async (): Promise<void> => {
    slow.close();
    await servers?.close();
    tables.close();
    data.link.close();
    parentPort?.close();
  };
  parentPort?.on("message", (message: ToServing) => void (message === "listen" ? listen() : close()));
  send("ready");
}

/** The thread for slow queries answers one job after the other. */
export function answerSlowly(data: ThreadData): void {
  const { chain, tables } = readingOf(data, threadLogger({}));
  const answer = answersOf(data, () => {
    tables.refresh();
    return chain.within(new Budget(SLOW));
  });
  parentPort?.postMessage("begun" satisfies FromSlow);
  parentPort?.on("message", async (job: SlowJob) => {
    const answered = await answer(job);
    // Until the next job, no old pages are held.
    tables.refresh();
    parentPort?.postMessage({ answer: answered } satisfies FromSlow);
  });
}

function send(message: FromServing, transfer: MessagePort[] = []): void {
  parentPort?.postMessage(message, transfer);
}

/** The log of the node, written by the thread that started this one. */
function threadLogger(own: LogFields): Logger {
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void =>
      send({ log: { level, message, fields: { ...own, ...fields } } });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => threadLogger({ ...own, ...fields }),
  };
}

function readingOf({ genesis, validator, home, version, link, config }: ThreadData, logger: Logger): Reading {
  const set = standardModules();
  const log = logger.child({ module: "services" });
  const app = new AppReader({
    set,
    version,
    report: ({ item, error }) => log.error("a contained failure", { item, error }),
  });
  const tables = openLmdbReader(homePaths(home).database, [...CHAIN_TABLES, ...readTables(set)]);
  const events = new ReadEvents((error) => log.error("a subscriber failed", { error }));
  const blockThread = new BlockThreadCalls(link, (height) => {
    tables.refresh();
    void events.tell(whole.blocks, height);
  });
  const chain = new ReadChain({ tables, app, genesis, validator, blockThread, events, engine: config.engine.kind });
  const whole = chain.within(new Budget(UNBOUND));
  return { chain, whole, app, tables };
}
