import { rollback } from "../../node/index.ts";
import { toHexUpper } from "../../util/index.ts";
import { homeOf } from "../command/home.ts";
import type { Run } from "../command/spec.ts";

/** `rollback`: the state of the block before the last one, reported in the words of the ecosystem's tools. */
export const rollbackState: Run = async ({ flags, io }) => {
  const { height, appHash } = rollback(homeOf(flags), { hard: flags.bool("hard") });
  io.out(`Rolled back state to height ${height} and hash ${toHexUpper(appHash)}\n`);
};
