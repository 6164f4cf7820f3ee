# Completes unseen in bash, with or without bash-completion.
# shellcheck shell=bash

_unseen_commands=
declare -gA _unseen_operands=() _unseen_options=() _unseen_takes=()

# _unseen_command NAME OPERANDS SUMMARY
_unseen_command() {
    _unseen_operands[$1]=$2
    [[ $1 == filter ]] || _unseen_commands+="$1 "
}

# _unseen_option "COMMAND..." KIND ARGUMENT HELP SPELLING...
_unseen_option() {
    local word
    for word in $1; do _unseen_options[$word]+="${*:5} "; done
    for word in "${@:5}"; do _unseen_takes[$word]=$2; done
}

# The tables of the program:

# _unseen_offer CURRENT COMPGEN-OPTION...
_unseen_offer() {
    local current=$1 more
    shift
    mapfile -t more < <(compgen "$@" -- "$current")
    COMPREPLY+=("${more[@]}")
}

_unseen_files() {
    compopt -o filenames 2>/dev/null
    _unseen_offer "$1" -f
}

# Offers files that end in .bf; if there are none, all files.
_unseen_filters() {
    compopt -o filenames 2>/dev/null
    _unseen_offer "$1" -f -X '!*.bf'
    if ((${#COMPREPLY[@]})); then _unseen_offer "$1" -d; else _unseen_offer "$1" -f; fi
}

# _unseen_value KIND CURRENT: completes the value of an option.
_unseen_value() {
    case $1 in
    file) _unseen_files "$2" ;;
    filter) _unseen_filters "$2" ;;
    value | values) ;;
    *) _unseen_offer "$2" -W "$1" ;;
    esac
}

# _unseen_rest FIRST: completes the command of -x, whose words begin at FIRST.
_unseen_rest() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        _unseen_offer "${COMP_WORDS[COMP_CWORD]}" -c
    else
        _unseen_files "${COMP_WORDS[COMP_CWORD]}"
    fi
}

# _unseen_operand COMMAND PLACE CURRENT
_unseen_operand() {
    case ${_unseen_operands[$1]} in
    filter) (($2 > 1)) || _unseen_filters "$3" ;;
    filters) _unseen_filters "$3" ;;
    filter-files) if (($2 > 1)); then _unseen_files "$3"; else _unseen_filters "$3"; fi ;;
    files) _unseen_files "$3" ;;
    command) _unseen_offer "$3" -W "$_unseen_commands" ;;
    esac
}

_unseen() {
    local current=${COMP_WORDS[COMP_CWORD]} command=filter operands=0 literal='' option='' i word
    COMPREPLY=()
    # Reads the words before the cursor. In bash, "=" is a word of its own.
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $option && $word == = ]]; then
            continue
        elif [[ -n $option ]]; then
            option=
        elif [[ -z $literal && $word == -- ]]; then
            literal=yes
        elif [[ -z $literal && $word == -?* ]]; then
            case ${_unseen_takes[$word]-} in
            command) _unseen_rest $((i + 1)); return ;;
            '') ;;
            *) option=$word ;;
            esac
        else
            [[ -n $literal || $operands -gt 0 || " $_unseen_commands " != *" $word "* ]] ||
                { command=$word && continue; }
            operands=$((operands + 1))
        fi
    done
    if [[ -n $option ]]; then
        [[ $current != = ]] || current=
        _unseen_value "${_unseen_takes[$option]}" "$current"
    elif [[ -z $literal && $current == -* ]]; then
        _unseen_offer "$current" -W "${_unseen_options[$command]}"
    else
        _unseen_operand "$command" $((operands + 1)) "$current"
        [[ $command != filter || -n $literal || $operands -gt 0 ]] ||
            _unseen_offer "$current" -W "$_unseen_commands"
    fi
}

complete -F _unseen unseen
