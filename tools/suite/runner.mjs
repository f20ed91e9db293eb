// Runs parts of the tests with vitest, and counts them.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** A folder for reports and for what a run builds; it goes with the process. */
export const reports = mkdtempSync(join(tmpdir(), "svc-tests-"));
process.once("exit", () => rmSync(reports, { recursive: true, force: true }));

const REPORTERS = ["./tools/deadline.mjs", "./tools/suite-errors.mjs"];

/**
 * Runs vitest with these arguments in a checkout, under the given program of Node.js, and prints its output: at the end where
 * it is silent, never where it is quiet. Resolves to counts and the failed tests with their messages. A run that takes longer than
 * `minutes` is ended. A prefix says where the program runs, such as `unshare` and its flags.
 */
export async function tests(
  name,
  words,
  { minutes, env = {}, prefix = [], node = process.execPath, isSilent = false, isQuiet = false, cwd = root },
) {
  const report = join(reports, `${name}.json`);
  const vitest = join(cwd, "node_modules", "vitest", "vitest.mjs");
  const suiteErrors = join(reports, `${name}-suites.json`);
  const reporters = ["default", "json", ...REPORTERS].map((each) => `--reporter=${each}`);
  const args = [vitest, "run", ...words, ...reporters, `--outputFile.json=${report}`];
  const [program, ...rest] = [...prefix, node, ...args];
  const child = spawn(program, rest, {
    cwd,
    stdio: ["ignore", ...(isSilent || isQuiet ? ["pipe", "pipe"] : ["inherit", "inherit"])],
    env: { ...process.env, ...env, SVC_TEST_MINUTES: `${minutes}`, SVC_TEST_SUITE_ERRORS: suiteErrors },
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => said.push(part));
  const ok = await ended(child);
  if (!isQuiet) process.stdout.write(Buffer.concat(said));
  if (!existsSync(report))
    return broken(`${name} tests: no report, because they could not begin or did not end in time`);
  const errors = existsSync(suiteErrors) ? JSON.parse(readFileSync(suiteErrors, "utf8")) : {};
  const counts = countsOf(JSON.parse(readFileSync(report, "utf8")), errors, cwd);
  if (!ok && counts.failures.length === 0) counts.failures.push(`${name} tests: an error outside of the tests`);
  return counts;
}

function countsOf(result, errors, cwd) {
  // A file whose set-up or tidying fails has no failed test of its own.
  const brokenFiles = result.testResults.filter(({ status, assertionResults }) => {
    return status === "failed" && assertionResults.every((each) => each.status !== "failed");
  });
  const failures = [
    ...brokenFiles.map(({ name, message }) => [relative(cwd, name), message, ...(errors[name] ?? [])].join("\n")),
    ...result.testResults.flatMap((each) => failedTests(each, cwd)),
  ];
  const files = result.testResults.filter(({ status }) => status === "failed").map(({ name }) => relative(cwd, name));
  return { passed: result.numPassedTests, failures, files, skipped: result.numPendingTests };
}

function failedTests({ name, assertionResults }, cwd) {
  return assertionResults
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => `${relative(cwd, name)}: ${fullName}\n${failureMessages.join("\n")}`);
}

/** Whether a process ended well. Its output is whole then, unless a process that outlives it holds that open. */
export function ended(child) {
  return new Promise((resolve) => {
    child.once("exit", (code) => setTimeout(() => resolve(code === 0), 10_000).unref());
    child.once("close", (code) => resolve(code === 0));
  });
}

export function broken(failure) {
  return { passed: 0, failures: [failure], files: [], skipped: 0 };
}
