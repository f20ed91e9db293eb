import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { assert } from "../../util/index.ts";
import { type Cli, findService, type JsonObject } from "../../wire/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import type { Flags } from "../command/flags.ts";
import { usageError } from "../errors.ts";
import type { FieldFlag } from "./fields.ts";

/** Of messages that an earlier release has in another form. */
export const LEGACY: FlagSpec = { name: "legacy", summary: "send the message of releases before 0.46" };

/** The message that chains of an earlier release take in the place of the one of this rpc. */
export function olderMessage({ name }: DescMethod, { older }: Cli): DescMessage | undefined {
  if (older === "") return undefined;
  const found = findService(older)?.methods.find((each) => each.name === name);
  assert(found !== undefined, `${older} has no rpc ${name}`);
  return found.input;
}

interface Older {
  readonly older: DescMessage;
  readonly fields: readonly FieldFlag[];
  readonly flags: Flags;
}

/** Refuses values with `--legacy` for which the older message has no field. */
export function requireOlderFields(json: JsonObject, { older, fields, flags }: Older): void {
  if (!flags.bool(LEGACY.name)) return;
  const isKnown = (name: string | undefined): boolean => older.fields.some((field) => field.name === name);
  const extra = fields.find(({ path: [name = ""] }) => json[name] !== undefined && !isKnown(name));
  if (extra === undefined) return;
  throw usageError(`--${extra.flag.name} cannot be used with --legacy: the older message has no such field`);
}
