import { defineErrors, SvcError } from "../util/index.ts";

const CODESPACE = "sdl";

/** Numbers of the kinds of faults in a deployment file; they never change. */
export const SDL_CODES = {
  syntax: 1,
  size: 2,
  feature: 3,
  duplicateKey: 4,
  unknownKey: 5,
  type: 6,
  missing: 7,
  value: 8,
  range: 9,
  reference: 10,
  conflict: 11,
  version: 12,
} as const;

/** Name of the kind of a fault. */
export type SdlErrorKind = keyof typeof SDL_CODES;

/** One fault or warning: its place, the faulty value, and the remedy. */
export interface SdlIssue {
  readonly kind: SdlErrorKind;
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units as editors do. */
  readonly column: number;
  /** `services.web.expose[0].port`, or empty for the file as a whole. */
  readonly path: string;
  readonly problem: string;
  readonly remedy: string;
}

/** `web.yaml:7:15: services.web.expose[0].port: "80:80" is not a port; write port: 80`. */
export function formatIssue(issue: SdlIssue): string {
  return `${locate(issue)}; ${issue.remedy}`;
}

function locate(issue: SdlIssue): string {
  const path = issue.path === "" ? "" : `${issue.path}: `;
  return `${issue.file}:${issue.line}:${issue.column}: ${path}${issue.problem}`;
}

/**
 * A refused deployment file with all its faults in the order of the file. Message, code and hint are the first fault's,
 * followed by the number of the others and the command that lists them.
 */
export class SdlError extends SvcError {
  readonly issues: readonly SdlIssue[];
  readonly warnings: readonly SdlIssue[];

  constructor(issues: readonly [SdlIssue, ...SdlIssue[]], warnings: readonly SdlIssue[] = []) {
    const [first, ...others] = issues;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    const all = others.length === 0 ? "" : ` (svc sdl validate ${first.file} shows all)`;
    super(CODESPACE, SDL_CODES[first.kind], `${locate(first)}${more}`, { hint: `${first.remedy}${all}` });
    this.name = "SdlError";
    this.issues = issues;
    this.warnings = warnings;
  }
}

/** Errors about a manifest as a provider receives it. */
export const manifestErrors = defineErrors(CODESPACE, {
  invalid: [20, "invalid manifest", "send the manifest that `svc sdl manifest FILE` prints"],
  mismatch: [
    21,
    "manifest does not match the deployment on the chain",
    "resources cannot change after creation: send a manifest of the same file, or close the deployment and create a new one",
  ],
});

const MAX_SHOWN = 64;

/** A value as text of an error: quoted, cut, and without characters that act on a terminal. */
export function show(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  return JSON.stringify(cut).replace(/\p{C}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
