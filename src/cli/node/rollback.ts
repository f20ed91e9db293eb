import { rollback } from "../../node/index.ts";
import { toHexUpper } from "../../util/index.ts";
import { homeOf } from "../command/home.ts";
import type { Run } from "../command/spec.ts";
import { printAs } from "../terminal/output.ts";

/** `rollback`: the state of the block before the last one, reported in the words of the ecosystem's tools. */
export const rollbackState: Run = async (input) => {
  const { height, appHash } = rollback(homeOf(input.flags), { hard: input.flags.bool("hard") });
  const hash = toHexUpper(appHash);
  printAs(
    input,
    { height: String(height), app_hash: hash },
    `Rolled back state to height ${height} and hash ${hash}\n`,
  );
};
