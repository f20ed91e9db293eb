import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { killProcessesOn, ownedFolder, REMOVAL } from "./abandoned.ts";
import type { SvcRequest } from "./run-svc.ts";
import { SvcProcess } from "./svc-process.ts";

/** Everything that a test has made, so that it can be undone in reverse order. Nothing else is touched. */
export class Fixture {
  /** Temporary folder of this test; `SVC_TEST_KEEP=1` keeps it for a look at homes and logs. */
  readonly folder = ownedFolder("svc-test-");
  readonly #closers: (() => unknown)[] = [];

  /** A new private home. */
  tempHome(name = `home-${this.#closers.length}`): string {
    const home = join(this.folder, name);
    mkdirSync(home, { mode: 0o700 });
    return home;
  }

  /** Runs at the end, before everything that was deferred earlier. */
  defer(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  /** Starts a long-running command that ends with the test at the latest. */
  async start(name: string, args: readonly string[], request: SvcRequest = {}): Promise<SvcProcess> {
    const process = await SvcProcess.start(args, { ...request, log: join(this.folder, `${name}.log`) });
    this.defer(() => process.kill());
    return process;
  }

  /** Undoes everything; the first fault is thrown at the end. */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (const closer of this.#closers.splice(0).reverse()) {
      try {
        await closer();
      } catch (error) {
        faults.push(error);
      }
    }
    if (process.env.SVC_TEST_KEEP === "1") console.warn(`kept: ${this.folder}`);
    else {
      // A provider's data plane outlives it, and makes its socket again in a folder that is being removed.
      killProcessesOn(this.folder);
      rmSync(this.folder, REMOVAL);
    }
    if (faults.length > 0) throw faults[0];
  }
}
