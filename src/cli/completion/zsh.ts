import type { Candidate, CompletionModel, FlagValues } from "./model.ts";
import { casesOf, pattern, type Row, shQuote } from "./text.ts";

/** The script for zsh: to be sourced, or installed as `_svc` in a directory of `$fpath`. */
export function zshScript(model: CompletionModel): string {
  return `#compdef svc
# Completion of svc for zsh. Load it with: source <(svc completion zsh)
_svc_children() {
  case "$1" in
${rows([...model.children].map(([path, words]) => [[path], described(words)]))}
  *) reply=() ;;
  esac
}
_svc_place() {
  case "$1" in
${rows([...model.aliases].map(([alias, path]) => [[alias], `REPLY=${shQuote(path)}`]))}
  *) REPLY="$1" ;;
  esac
}
_svc_flags() {
  case "$1" in
${rows([...model.flags].map(([path, words]) => [[path], described(words)]))}
  *) reply=() ;;
  esac
}
_svc_values() {
  case "$1:$2" in
${rows([...model.values].map(([key, values]) => [[key], `reply=(${valueWords(values).map(shQuote).join(" ")})`]))}
  *) reply=() ;;
  esac
}
_svc_takes_files() {
  case "$1" in
  ${model.files.map(shQuote).join(" | ")}) return 0 ;;
  esac
  return 1
}
_svc_is_place() {
  case "$1" in
  ${[...model.flags.keys()]
    .filter((path) => path !== "")
    .map(shQuote)
    .join(" | ")}) return 0 ;;
  esac
  return 1
}
_svc_takes_value() {
  local -a reply
  case "$2" in
  *=* | ${model.switches.join(" | ")}) return 1 ;;
  ${model.ambiguous.join(" | ")})
    case "$1:$2" in
    ${model.valued.map(shQuote).join(" | ")}) return 0 ;;
    esac
    # The command is not known yet: a word that may be one is not a value.
    _svc_children "$1"
    if (( \${#reply} == 0 )); then return 1; fi
    local child
    for child in "\${reply[@]}"; do [[ "$child" == "$3"* ]] && return 1; done ;;
  esac
  return 0
}
_svc() {
  local place='' flag='' open=1 word REPLY i
  local -a reply
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ "$word" == -- ]]; then return; fi
    if [[ -n "$flag" ]]; then flag=''; continue; fi
    if [[ "$word" == -?* ]]; then
      if _svc_takes_value "$place" "$word" "\${words[i + 1]}"; then flag="$word"; fi
      continue
    fi
    _svc_place "$place\${place:+ }$word"
    if [[ -n "$open" ]] && _svc_is_place "$REPLY"; then place="$REPLY"; else open=''; fi
  done
  if [[ -z "$flag" && "\${words[CURRENT]}" == --*=* ]]; then
    flag="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  if [[ -n "$flag" ]]; then
    _svc_values "$place" "$flag"
    case "\${reply[1]}" in
    @files) _files ;;
    @directories) _files -/ ;;
    *) compadd -- "\${reply[@]}" ;;
    esac
  elif [[ "\${words[CURRENT]}" == -* ]]; then
    _svc_flags "$place"
    _describe -o flag reply
  else
    if [[ -n "$open" ]]; then _svc_children "$place"; _describe command reply; fi
    if _svc_takes_files "$place"; then _files; fi
  fi
}
compdef _svc svc
# Read from $fpath, this file is the function itself.
if [[ "\${funcstack[1]}" == _svc ]]; then _svc; fi
`;
}

/** Words, each with a description after a colon. */
function described(words: readonly Candidate[]): string {
  const texts = words.map(({ word, summary }) => shQuote(`${word.replaceAll(":", "\\:")}:${summary}`));
  return `reply=(${texts.join(" ")})`;
}

function valueWords(values: FlagValues): readonly string[] {
  return typeof values === "string" ? [`@${values}`] : values;
}

function rows(entries: readonly Row[]): string {
  return casesOf(entries)
    .map(([keys, body]) => `  ${keys.map((key) => pattern(key, shQuote)).join(" | ")}) ${body} ;;`)
    .join("\n");
}
