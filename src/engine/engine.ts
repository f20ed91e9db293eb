/** Runs the application: the embedded single validator, or the server for an external engine. */
export interface Engine {
  start(): void;
  /** Returns when nothing more will be written. */
  stop(): Promise<void>;
}
