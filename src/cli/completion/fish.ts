import type { Candidate, CompletionModel, FlagValues } from "./model.ts";
import { casesOf, fishQuote, pattern, type Row } from "./text.ts";

/** The script for fish 3 and later. */
export function fishScript(model: CompletionModel): string {
  return `# Completion of svc for fish. Load it with: svc completion fish | source
function __svc_children
    switch "$argv[1]"
${rows([...model.children].map(([path, words]) => [[path], described(words)]))}
    end
end
function __svc_place
    switch "$argv[1]"
${rows([...model.aliases].map(([alias, path]) => [[alias], `echo ${fishQuote(path)}`]))}
        case '*'
            echo "$argv[1]"
    end
end
function __svc_flags
    switch "$argv[1]"
${rows([...model.flags].map(([path, words]) => [[path], described(words)]))}
    end
end
function __svc_values
    switch "$argv[1]:$argv[2]"
${rows([...model.values].map(([key, values]) => [[key], valueBody(values)]))}
    end
end
function __svc_takes_files
    contains -- "$argv[1]" ${model.files.map(fishQuote).join(" ")}
end
function __svc_is_place
    contains -- "$argv[1]" ${[...model.flags.keys()]
      .filter((path) => path !== "")
      .map(fishQuote)
      .join(" ")}
end
function __svc_takes_value
    string match -q -- '*=*' "$argv[2]"; and return 1
    contains -- "$argv[2]" ${model.switches.join(" ")}; and return 1
    if contains -- "$argv[2]" ${model.ambiguous.join(" ")}
        contains -- "$argv[1]:$argv[2]" ${model.valued.map(fishQuote).join(" ")}; and return 0
        # The command is not known yet: a word that may be one is not a value.
        set -l children (__svc_children "$argv[1]")
        test (count $children) -eq 0; and return 1
        string match -q -- "$argv[3]*" $children; and return 1
    end
    return 0
end
function __svc_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -l place ''
    set -l flag ''
    set -l open 1
    for i in (seq 2 (count $words))
        set -l word $words[$i]
        set -l next ''
        test $i -lt (count $words); and set next $words[(math $i + 1)]
        test "$word" = --; and return
        if test -n "$flag"
            set flag ''
            continue
        end
        if string match -q -- '-?*' "$word"
            __svc_takes_value "$place" "$word" "$next"; and set flag $word
            continue
        end
        set -l found (__svc_place (string trim "$place $word"))
        if test -n "$open"; and __svc_is_place "$found"
            set place $found
        else
            set open ''
        end
    end
    if test -z "$flag"; and string match -q -- '--*=*' "$cur"
        set -l parts (string split -m 1 = -- $cur)
        for value in (__svc_values "$place" $parts[1])
            switch $value
                case @files @directories
                    __fish_complete_path $parts[2] | string replace -r '^' "$parts[1]="
                case '*'
                    echo "$parts[1]=$value"
            end
        end
        return
    end
    if test -n "$flag"
        set -l values (__svc_values "$place" $flag)
        switch "$values[1]"
            case @files
                __fish_complete_path $cur
            case @directories
                __fish_complete_directories $cur
            case '*'
                string join \\n -- $values
        end
        return
    end
    if string match -q -- '-*' "$cur"
        __svc_flags "$place"
        return
    end
    test -n "$open"; and __svc_children "$place"
    __svc_takes_files "$place"; and __fish_complete_path $cur
end
complete -c svc -e
complete -c svc -f -a '(__svc_complete)'
`;
}

/** Words, each with a description after a tab. */
function described(words: readonly Candidate[]): string {
  const texts = words.map(({ word, summary }) => `${fishQuote(word)} ${fishQuote(summary)}`);
  return `printf '%s\\t%s\\n' ${texts.join(" ")}`;
}

function valueBody(values: FlagValues): string {
  const words = typeof values === "string" ? [`@${values}`] : values;
  return words.length === 0 ? "true" : `printf '%s\\n' ${words.map(fishQuote).join(" ")}`;
}

function rows(entries: readonly Row[]): string {
  return casesOf(entries)
    .map(([keys, body]) => `        case ${keys.map((key) => starred(key)).join(" ")}\n            ${body}`)
    .join("\n");
}

/** In fish a quoted star in `case` is a wildcard too. */
function starred(key: string): string {
  return key.startsWith("*") ? fishQuote(key) : pattern(key, fishQuote);
}
