import type { CommandSpec } from "../command/spec.ts";

/** The shells that have a completion script. */
type Shell = "bash" | "zsh" | "fish";

// Each script asks `svc __complete` with the words up to the cursor. A line of the answer is a word, a tab and its
// description, or says that files or directories fit.

/** For bash 3.2 and later. */
const BASH = `# Completion of svc for bash. Load it with: source <(svc completion bash)
_svc() {
  local line cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  case "$cur" in = | :) cur='' ;; esac
  while IFS= read -r line; do
    case "$line" in
    :files) compopt -o filenames 2>/dev/null; line=$(compgen -f -- "$cur") ;;
    :directories) compopt -o filenames 2>/dev/null; line=$(compgen -d -- "$cur") ;;
    *) line="\${line%%$'\\t'*}" ;;
    esac
    while IFS= read -r line; do [ -n "$line" ] && COMPREPLY+=("$line"); done <<<"$line"
  done < <("\${1/#\\~/$HOME}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _svc svc
`;

/** To be sourced, or installed as `_svc` in a directory of `$fpath`. */
const ZSH = `#compdef svc
# Completion of svc for zsh. Load it with: source <(svc completion zsh)
_svc() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]/#\\~/$HOME}" __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
    :files) compset -P '*='; _files ;;
    :directories) compset -P '*='; _files -/ ;;
    ?*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  if (( \${#found} > 0 )); then _describe svc found; fi
}
compdef _svc svc
# Read from $fpath, this file is the function itself.
if [[ "\${funcstack[1]}" == _svc ]]; then _svc; fi
`;

/** For fish 3 and later. */
const FISH = `# Completion of svc for fish. Load it with: svc completion fish | source
function __svc_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for line in (command $program __complete $words[2..] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :directories
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c svc -f -a '(__svc_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

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
    load:
      async () =>
      async ({ io }) =>
        io.out(SCRIPTS[shell]),
  };
}
