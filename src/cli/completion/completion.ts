import type { CommandInput } from "../command/spec.ts";
import { ROOT } from "../root.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { type CompletionModel, completionModel } from "./model.ts";
import { zshScript } from "./zsh.ts";

/** The shells that have a completion script. */
export type Shell = "bash" | "zsh" | "fish";

const SCRIPTS: Readonly<Record<Shell, (model: CompletionModel) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `completion SHELL`: a script that knows all commands and flags of this version; it runs nothing of ours. */
export async function completion(shell: Shell, { io }: Pick<CommandInput, "io">): Promise<void> {
  io.out(SCRIPTS[shell](await completionModel(ROOT)));
}
