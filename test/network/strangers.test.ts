import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { childrenOf } from "../support/children.ts";
import { pause } from "../support/index.ts";
import { inLab, type LabNode } from "./lab/lab.ts";

/** Strangers at the port of a validator's peers who never say who they are. */

const LONG_MS = 900_000;
const P2P = 26_656;
const HANDSHAKES = 10_000;
const AT_ONCE = 64;
/** Longer than CometBFT waits for a handshake. */
const SILENT_MS = 25_000;
const SILENT = 300;
const MOST_KIB = 200 * 1024;

test(
  "NET-14: ten thousand handshakes of garbage and three hundred silent ones neither stop nor fill a validator",
  {
    timeout: LONG_MS,
  },
  () =>
    inLab("NET-14", {}, async (lab) => {
      const target = lab.at(0);
      const before = memoryKib(target);
      const silent = Array.from({ length: SILENT }, () => stranger(target));
      let most = 0;
      let left = HANDSHAKES;
      const began = await target.height();
      const callers = Array.from({ length: AT_ONCE }, async (_, i) => {
        while (left-- > 0) {
          const socket = stranger(target);
          // One in eight sends more than a frame may have.
          socket.write(randomBytes(i % 8 === 0 ? 1 << 20 : 100));
          await Promise.race([new Promise((resolve) => socket.once("close", resolve)), pause(500)]);
          socket.destroy();
          most = Math.max(most, left % 100 === 0 ? memoryKib(target) : 0);
        }
      });
      await Promise.all([...callers, pause(SILENT_MS)]);
      expect(await target.height()).toBeGreaterThan(began);
      expect(most - before).toBeLessThan(MOST_KIB);
      for (const socket of silent) socket.destroy();
      await target.catchUp(lab.at(1));
      return { handshakes: HANDSHAKES, moreMiB: Math.round((most - before) / 1024) };
    }),
);

function stranger({ machine }: LabNode): Socket {
  return connect(P2P, machine.address).on("error", () => undefined);
}

/** Memory of the node and its engine. */
function memoryKib({ node }: LabNode): number {
  const { pid } = node.process;
  const sizes = [pid, ...childrenOf(pid)].map((id) =>
    /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8")),
  );
  return sizes.reduce((sum, found) => sum + Number(found?.[1] ?? 0), 0);
}
