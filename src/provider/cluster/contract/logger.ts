/** Fields of a log line; values must not hold secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** What the drivers and the ingress need of a logger. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
