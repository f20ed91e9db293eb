import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryFolder } from "./memory-folder.ts";

/** How the folders of test runs begin. */
export const RUN_FOLDER = "svc-run-";

/** Where the unit tests of this run keep their files; in memory where there is room, because durable writes then wait for no disk. */
export function runFolder(): string {
  return join(memoryFolder() ?? tmpdir(), `${RUN_FOLDER}${process.pid}`);
}
