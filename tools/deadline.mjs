// A reporter of the test runner that ends a hanging run, and says what it was doing: a test that waits for a program
// holds its whole process, so that no time limit of the runner itself reaches it.
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Minutes until then, from the environment. */
const MINUTES = Number(process.env.SVC_TEST_MINUTES ?? 60);

export default class Deadline {
  #running = new Set();

  onInit() {
    setTimeout(() => this.#end(), MINUTES * 60_000).unref();
  }

  onTestModuleStart({ relativeModuleId }) {
    this.#running.add(relativeModuleId);
  }

  onTestModuleEnd({ relativeModuleId }) {
    this.#running.delete(relativeModuleId);
  }

  onTestCaseReady(test) {
    this.#running.add(titleOf(test));
  }

  onTestCaseResult(test) {
    this.#running.delete(titleOf(test));
  }

  #end() {
    const below = descendants();
    console.error(`\nThe tests had not ended after ${MINUTES} minutes and are stopped. These were running:`);
    for (const title of this.#running) console.error(`  ${title}`);
    console.error("These were their processes (number, parent, state, program), and where each stood in the kernel:");
    for (const { pid, line } of below) console.error(`  ${line.slice(0, 300)}\n    ${whereabouts(pid)}`);
    // Parents before their children: one that has waited for its child would go on.
    for (const { pid } of below) kill(pid);
    process.exit(1);
  }
}

function titleOf({ module, fullName }) {
  return `${module.relativeModuleId} > ${fullName}`;
}

/** The processes below this one, parents first; none where the system does not list them as Linux does. */
function descendants() {
  const all = existsSync("/proc/self/stat") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  const processes = all.flatMap(processOf);
  const below = (pid) => processes.filter(({ parent }) => parent === pid).flatMap((each) => [each, ...below(each.pid)]);
  return below(process.pid);
}

/** Empty for a process that is gone. */
function processOf(pid) {
  try {
    // The name of the program is in brackets, and may contain anything.
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    const program = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ");
    return [{ pid: Number(pid), parent: Number(parent), line: `${pid} ${parent} ${state} ${program}` }];
  } catch {
    return [];
  }
}

/**
 * The current system call of a process, with its arguments and wait channel: nothing else tells why a process is
 * silent.
 */
function whereabouts(pid) {
  const read = (name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8").trim().split("\n").slice(0, 8).join(" < ");
    } catch (error) {
      return String(error.code);
    }
  };
  return ["wchan", "syscall", "stack"].map((name) => `${name}: ${read(name)}`).join("; ");
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself meanwhile.
  }
}
