import type { CommandSpec } from "../command/spec.ts";
import type { Shell } from "./completion.ts";

const HOW: Readonly<Record<Shell, string>> = {
  bash: "source <(svc completion bash)\nsvc completion bash > ~/.local/share/bash-completion/completions/svc",
  zsh: "source <(svc completion zsh)\nsvc completion zsh > ~/.zfunc/_svc",
  fish: "svc completion fish | source\nsvc completion fish > ~/.config/fish/completions/svc.fish",
};

/** `svc completion bash|zsh|fish`. */
export const COMPLETION: CommandSpec = {
  name: "completion",
  summary: "Print a script that completes commands and flags in your shell",
  commands: async () => (["bash", "zsh", "fish"] as const).map(commandOf),
};

function commandOf(shell: Shell): CommandSpec {
  return {
    name: shell,
    summary: `The script for ${shell}`,
    withoutConfig: true,
    example: HOW[shell],
    load: async () => {
      const { completion } = await import("./completion.ts");
      return (input) => completion(shell, input);
    },
  };
}
