import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { silentLogger } from "../../util/index.ts";
import { cometPaths } from "./settings.ts";
import { Supervisor } from "./supervisor.ts";

let root = "";
let supervisor: Supervisor | undefined;
let faults: unknown[] = [];
let hasAnswered = false;
/** Ends after which the engine is started again. */
let restarts = 0;
let warnings: string[] = [];

beforeEach(() => {
  [hasAnswered, restarts, warnings] = [false, 0, []];
  root = mkdtempSync(join(tmpdir(), "svc-supervisor-"));
  faults = [];
});

afterEach(async () => {
  await supervisor?.stop();
  rmSync(root, { recursive: true });
});

const FILES = { genesis: "/g", nodeKey: "/n", validatorKey: "/v", validatorState: "/s" };

/** Starts a program of the shell in the place of the engine; it appends a line to `starts` first. */
function supervise(script: string): Supervisor {
  const program = join(root, "program");
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${root}/starts\n${script}\n`);
  chmodSync(program, 0o755);
  const paths = { ...cometPaths(root, FILES), root };
  const onFault = (error: string) => void faults.push(error);
  const logger = {
    ...silentLogger,
    warn: (text: string) => void warnings.push(text),
    error: (text: string) => {
      restarts += Number(text.includes("started again"));
    },
  };
  supervisor = new Supervisor({ program, paths, logger, hasAnswered: () => hasAnswered, onFault, onNoStart: onFault });
  supervisor.start();
  return supervisor;
}

const starts = () => readFileSync(join(root, "starts"), "utf8").split("\n").filter(Boolean);

test("an engine that ends is started again", async () => {
  supervise("exit 1");
  await waitFor(async () => starts().length >= 2, "a second start");
  expect(starts()[0]).toBe(`start --home ${root}`);
  expect(faults).toEqual([]);
});

test("an engine starts where util-linux is not there, with a warning", async () => {
  const { PATH } = process.env;
  process.env.PATH = root;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  supervise("exit 1");
  await waitFor(async () => existsSync(join(root, "starts")), "a start");
  expect(warnings).toEqual([expect.stringContaining("setpriv of util-linux is not there")]);
});

const IN_VAIN = "echo 'ERROR: failed to start node: bind: address already in use' >&2; exit 1";

test("an engine that never answers is a fault at its third end, in its own words", async () => {
  supervise(IN_VAIN);
  await waitFor(async () => faults.length > 0, "the fault");
  const words = "failed to start node: bind: address already in use";
  expect(faults).toEqual([`it ended 3 times before it answered: ${words}`]);
  expect(starts()).toHaveLength(3);
});

test("an engine that has answered is started again however often it ends", async () => {
  hasAnswered = true;
  supervise(IN_VAIN);
  await waitFor(async () => restarts === 3, "the third end");
  expect(faults).toEqual([]);
});

test.each([
  [
    'E[2026-11-28|12:00:00.000] CONSENSUS FAILURE!!!   module=consensus err="wrong \\"AppHash\\" here" stack="goroutine 1"',
    'wrong \\"AppHash\\" here',
  ],
  [
    "panic: state.AppHash does not match AppHash after replay. Got",
    "state.AppHash does not match AppHash after replay. Got",
  ],
  [
    "ERROR: failed to create node: state (5) and store (0) height mismatch, stores were left in an inconsistent state",
    "failed to create node: state (5) and store (0) height mismatch, stores were left in an inconsistent state",
  ],
  [
    "ERROR: failed to create node: error during handshake: error on replay: app block height (9) is higher than core (7)",
    "failed to create node: error during handshake: error on replay: app block height (9) is higher than core (7)",
  ],
  [
    'E[2026-11-28|12:00:00.000] State sync failed                            module=statesync err="state sync aborted"',
    "state sync aborted",
  ],
])("an engine that cannot go on is a fault, in its own words: %s", async (line, sentence) => {
  supervise(`cat <<'END'\n${line}\nEND\nexec sleep 60`);
  await waitFor(async () => faults.length > 0, "the fault");
  expect(faults).toEqual([sentence]);
  await supervisor?.stop();
  expect(starts()).toHaveLength(1);
});

test.each([
  'E[2026-11-28|12:00:00.000] prevote step: consensus deems this block invalid   module=consensus err="wrong Block.Header.AppHash"',
  "ERROR: failed to start node: listen tcp 127.0.0.1:26656: bind: address already in use",
  'E[2026-11-28|12:00:00.000] Stopping peer for error   module=p2p err="invalid IP address CONSENSUS FAILURE!!! here"',
  "I[2026-11-28|12:00:00.000] Peer is on the network CONSENSUS FAILURE!!! here   module=p2p",
  'E[2026-11-28|12:00:00.000] Stopping peer for error   module=p2p err="State sync failed here"',
  "ERROR: failed to create node: error during handshake: error calling Info: write unix: broken pipe",
])("a fault of others or of the machine lets the engine start again: %s", async (line) => {
  supervise(`cat <<'END'\n${line}\nEND`);
  await waitFor(async () => starts().length >= 2, "a second start");
  expect(faults).toEqual([]);
});

test("no variable of the environment replaces a setting of the engine", async () => {
  process.env.CMT_RPC_LADDR = "tcp://0.0.0.0:1";
  try {
    supervise(`env >> ${root}/starts\nexec sleep 60`);
    await waitFor(async () => starts().some((line) => line.startsWith("PATH=")), "the environment");
    expect(starts().filter((line) => line.startsWith("CMT_"))).toEqual([]);
  } finally {
    delete process.env.CMT_RPC_LADDR;
  }
});

test("an engine is stopped with SIGTERM", async () => {
  const running = supervise(
    `trap 'echo ended >> ${root}/starts; exit 0' TERM\necho ready >> ${root}/starts\nwhile :; do sleep 0.05; done`,
  );
  await waitFor(async () => starts().includes("ready"), "the start");
  await running.stop();
  expect(starts()).toContain("ended");
  expect(running.pid).toBeUndefined();
});
