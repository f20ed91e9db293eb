import { describe } from "vitest";
import { TestEngine } from "../e2e/engine.ts";
import type { Fixture } from "./fixture.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) {
  const text = `tests with containers cannot run: ${missing}; on Debian, as root: apt-get install podman runc netavark aardvark-dns iptables nftables catatonit busybox-static`;
  // Where tests must run, one that cannot is a failure.
  if (process.env.CI === "true") throw new Error(text);
  process.stderr.write(`${text}\n`);
}

/** `describe` if containers can run; otherwise skipped, with a notice on standard error. */
export const describeWithEngine = describe.skipIf(missing !== undefined);

/** A container engine of the test's own, on storage of its own; it is removed with the test. */
export async function startEngine(fixture: Fixture): Promise<TestEngine> {
  const engine = await TestEngine.start();
  fixture.defer(() => engine.destroy());
  return engine;
}
