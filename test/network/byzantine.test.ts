import { expect, test } from "vitest";
import { Fixture, waitFor } from "../support/index.ts";
import { buildByzantine } from "../support/next-program.ts";
import { LAST_SPOILED, LIE_HEIGHT } from "./byzantine/spoil.ts";
import { inLab } from "./lab/lab.ts";

/** Three honest validators, and one that proposes what no honest one votes for. */

const LONG_MS = 1_200_000;
const PATIENCE_MS = 900_000;

test("NET-11: proposals with transactions that do not fit are voted nil, and a node with another state ends alone", {
  timeout: LONG_MS,
}, async () => {
  const build = new Fixture();
  try {
    const main = buildByzantine(build.tempHome("byzantine"));
    await inLab("NET-11", { started: 3 }, async (lab) => {
      const [honest, byzantine] = [lab.at(0), lab.at(3)];
      await byzantine.node.start({ main });
      const { address } = (await byzantine.answer("status")).validator_info;
      const from = (await byzantine.height()) + 1;
      await honest.reaches(Number(LAST_SPOILED) + 1, PATIENCE_MS);
      let turns = 0;
      for (let height = from; height <= Number(LAST_SPOILED); height++) {
        const { header, last_commit } = (await honest.answer(`block?height=${height}`)).block;
        expect(header.proposer_address, `proposer of ${height}`).not.toBe(address);
        const { last_commit: own } = (await honest.answer(`block?height=${height + 1}`)).block;
        if (own.round > 0) turns++;
        expect(last_commit.signatures).toHaveLength(4);
      }
      expect(turns).toBeGreaterThan((Number(LAST_SPOILED) - from) / 8);
      expect(honest.node.process.output).toContain("rejected a proposed block");
      await waitFor(() => !byzantine.node.process.running, "the end of the node with another state", {
        timeoutMs: PATIENCE_MS,
      });
      expect(await byzantine.node.process.stop()).toBe(1);
      await honest.reaches(Number(LIE_HEIGHT) + 10);
      lab.nodes.pop();
      return { heights: Number(LAST_SPOILED) - from + 1, laterRounds: turns };
    });
  } finally {
    await build.close();
  }
});
