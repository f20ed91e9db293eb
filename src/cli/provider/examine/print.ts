import { EXIT } from "../../../util/index.ts";
import type { CliContext } from "../../context/context.ts";
import { printResult } from "../../terminal/output.ts";
import type { Finding } from "./finding.ts";

const MARKS = { ok: "ok     ", failed: "FAILED ", unknown: "unknown" } as const;

/** Prints the findings. The exit code is 0 only if all are ok, and none is unknown. */
export function printFindings(findings: readonly Finding[], { output, io }: Pick<CliContext, "output" | "io">): number {
  const isWell = findings.every(({ state }) => state === "ok");
  if (output === "json") printResult({ ok: isWell, checks: findings.map((each) => ({ ...each })) }, output, io);
  else io.out(textOf(findings));
  return isWell ? EXIT.done : EXIT.failed;
}

function textOf(findings: readonly Finding[]): string {
  const width = findings.reduce((most, { check }) => Math.max(most, check.length), 0);
  return findings
    .map(({ check, state, detail, fix }) => {
      const remedy = fix === undefined ? "" : `${" ".repeat(MARKS.ok.length + width + 4)}fix: ${fix}\n`;
      return `${MARKS[state]}  ${check.padEnd(width)}  ${detail}\n${remedy}`;
    })
    .join("");
}
