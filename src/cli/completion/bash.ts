import type { CompletionModel, FlagValues } from "./model.ts";
import { casesOf, pattern, type Row, shQuote } from "./text.ts";

/** The script for bash 3.2 and later. */
export function bashScript(model: CompletionModel): string {
  return `# Completion of svc for bash. Load it with: source <(svc completion bash)
_svc_children() {
  case "$1" in
${rows([...model.children].map(([path, words]) => [[path], set(words.map(({ word }) => word))]))}
  *) REPLY='' ;;
  esac
}
_svc_place() {
  case "$1" in
${rows([...model.aliases].map(([alias, path]) => [[alias], set([path])]))}
  *) REPLY="$1" ;;
  esac
}
_svc_flags() {
  case "$1" in
${rows([...model.flags].map(([path, words]) => [[path], set(words.map(({ word }) => word))]))}
  *) REPLY='' ;;
  esac
}
_svc_values() {
  case "$1:$2" in
${rows([...model.values].map(([key, values]) => [[key], set(valueWords(values))]))}
  *) REPLY='' ;;
  esac
}
_svc_takes_files() {
  case "$1" in
  ${model.files.map(shQuote).join(" | ")}) return 0 ;;
  esac
  return 1
}
_svc_takes_value() {
  case "$2" in
  *=* | ${model.switches.join(" | ")}) return 1 ;;
  ${model.ambiguous.join(" | ")})
    case "$1:$2" in
    ${model.valued.map(shQuote).join(" | ")}) return 0 ;;
    esac
    # The command is not known yet: a word that may be one is not a value.
    _svc_children "$1"
    case " $REPLY " in "  " | *" $3"*) return 1 ;; esac ;;
  esac
  return 0
}
_svc_reply() {
  local list="$1" cur="$2" word
  case "$list" in
  @files) compopt -o filenames 2>/dev/null; list=$(compgen -f -- "$cur") ;;
  @directories) compopt -o filenames 2>/dev/null; list=$(compgen -d -- "$cur") ;;
  *) list=$(compgen -W "$list" -- "$cur") ;;
  esac
  while IFS= read -r word; do [ -n "$word" ] && COMPREPLY+=("$word"); done <<<"$list"
}
_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" place='' flag='' open=1 word next i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}" next="\${COMP_WORDS[i + 1]}"
    if [ "$word" = -- ]; then return; fi
    # "--flag=value" comes as three words.
    if [ "$word" = = ]; then continue; fi
    if [ -n "$flag" ]; then flag=''; continue; fi
    case "$word" in
    -?*)
      if [ "$next" = = ] || _svc_takes_value "$place" "$word" "$next"; then flag="$word"; fi
      continue ;;
    esac
    _svc_place "$place\${place:+ }$word"
    if [ -n "$open" ] && _svc_is_place "$REPLY"; then place="$REPLY"; else open=''; fi
  done
  if [ "$cur" = = ]; then cur=''; fi
  if [ -n "$flag" ]; then
    _svc_values "$place" "$flag"
    _svc_reply "$REPLY" "$cur"
    return
  fi
  case "$cur" in
  -*) _svc_flags "$place"; _svc_reply "$REPLY" "$cur"; return ;;
  esac
  if [ -n "$open" ]; then _svc_children "$place"; _svc_reply "$REPLY" "$cur"; fi
  if _svc_takes_files "$place"; then _svc_reply @files "$cur"; fi
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
complete -F _svc svc
`;
}

function set(words: readonly string[]): string {
  return `REPLY=${shQuote(words.join(" "))}`;
}

function valueWords(values: FlagValues): readonly string[] {
  return typeof values === "string" ? [`@${values}`] : values;
}

function rows(entries: readonly Row[]): string {
  return casesOf(entries)
    .map(([keys, body]) => `  ${keys.map((key) => pattern(key, shQuote)).join(" | ")}) ${body} ;;`)
    .join("\n");
}
