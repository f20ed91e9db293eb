import { isLogFormat, isLogLevel, type LogOptions } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { usageError } from "../errors.ts";

/** `--log_level` and `--log_format`. */
export function logOptions(flags: Flags): LogOptions {
  const level = flags.optional("log_level") ?? "info";
  const format = flags.optional("log_format") ?? "plain";
  if (!isLogLevel(level)) throw usageError(`--log_level does not know "${level}"`);
  if (!isLogFormat(format)) throw usageError(`--log_format does not know "${format}"`);
  return { level, format };
}
