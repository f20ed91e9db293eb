import { SdlError, type SdlErrorKind, type SdlIssue } from "./errors.ts";

/** A spot in the file: position counted from 1, and the path of keys that leads there. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly path: string;
}

/** A faulty value and its remedy. */
export interface Complaint {
  readonly problem: string;
  readonly remedy: string;
}

const MAX_ISSUES = 100;

/** Collects the faults and warnings of one file. */
export class Report {
  readonly file: string;
  readonly #errors: SdlIssue[] = [];
  readonly #warnings: SdlIssue[] = [];

  constructor(file: string) {
    this.file = file;
  }

  error(place: Place, kind: SdlErrorKind, complaint: Complaint): void {
    this.#add(this.#errors, this.#issue(place, kind, complaint));
  }

  warn(place: Place, kind: SdlErrorKind, complaint: Complaint): void {
    this.#add(this.#warnings, this.#issue(place, kind, complaint));
  }

  get failed(): boolean {
    return this.#errors.length > 0;
  }

  get warnings(): readonly SdlIssue[] {
    return [...this.#warnings].sort(byPosition);
  }

  /** Throws the collected faults, if there are any. */
  check(): void {
    const [first, ...others] = [...this.#errors].sort(byPosition);
    if (first !== undefined) throw new SdlError([first, ...others], this.warnings);
  }

  #issue(place: Place, kind: SdlErrorKind, { problem, remedy }: Complaint): SdlIssue {
    return { kind, file: this.file, line: place.line, column: place.column, path: place.path, problem, remedy };
  }

  #add(list: SdlIssue[], issue: SdlIssue): void {
    if (list.length < MAX_ISSUES) list.push(issue);
  }
}

function byPosition(a: SdlIssue, b: SdlIssue): number {
  return a.line - b.line || a.column - b.column;
}
