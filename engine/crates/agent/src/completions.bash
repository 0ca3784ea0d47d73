
# The catalog's part: what --set takes, by kind.
_benchweb_engine_parameters() {
    case "$1" in
        @PARAMETERS@
    esac
}

_benchweb_engine_values() {
    case "$1" in
        @VALUES@
    esac
}

_benchweb_engine_kind() {
    local word
    for word in "${COMP_WORDS[@]:2}"; do
        if [[ -n "$(_benchweb_engine_parameters "$word")" ]]; then
            echo "$word"
            return
        fi
    done
}

# Bash takes "=" for a word of its own: --set direction=fo is "--set" "direction" "=" "fo".
_benchweb_engine_complete() {
    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" name=""
    if [[ "${COMP_WORDS[1]}" == run && "$before" == --set ]]; then
        compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -W "$(_benchweb_engine_parameters "$(_benchweb_engine_kind)")" -- "$current"))
        return
    fi
    if [[ "$current" == "=" && "${COMP_WORDS[COMP_CWORD-2]}" == --set ]]; then
        name="$before"
        current=""
    elif [[ "$before" == "=" && "${COMP_WORDS[COMP_CWORD-3]}" == --set ]]; then
        name="${COMP_WORDS[COMP_CWORD-2]}"
    fi
    if [[ -n "$name" ]]; then
        COMPREPLY=($(compgen -W "$(_benchweb_engine_values "$name")" -- "$current"))
        return
    fi
    _benchweb__engine "$@"
}

complete -F _benchweb_engine_complete -o bashdefault -o default benchweb-engine
