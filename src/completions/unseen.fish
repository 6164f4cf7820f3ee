# Completes unseen in fish.

set -g __unseen_commands
set -g __unseen_valued # options whose value may be the next word, which is then not an operand

# _unseen_command NAME OPERANDS SUMMARY
function _unseen_command
    set -g __unseen_operands_$argv[1] $argv[2]
    test $argv[1] = filter; or set -a __unseen_commands $argv[1]\t$argv[3]
end

# _unseen_option "COMMAND..." KIND ARGUMENT HELP SPELLING...
function _unseen_option
    set -l spellings
    set -l value
    for spelling in $argv[5..]
        string match -q -- '--*' $spelling
        and set -a spellings -l (string sub -s 3 -- $spelling)
        or set -a spellings -s (string sub -s 2 -- $spelling)
    end
    switch $argv[2]
        case '' command
        case value values
            set value -x
        case file
            set value -r -F
        case filter
            set value -x -a '(__unseen_filters)'
        case '*'
            set value -x -a $argv[2]
    end
    contains -- $argv[2] '' command; or set -a __unseen_valued $argv[5..]
    complete -c unseen -n "__unseen_is $argv[1]" $spellings $value -d $argv[4]
end

# The tables of the program:

# Reads the words before the cursor. Prints the command, the number of operands after it, and "no",
# or "--" if that was among them, or "-x" and the words of its command.
function __unseen_read
    set -l words (commandline -opc)[2..-1]
    set -l command filter
    set -l operands 0
    set -l mark no
    set -l value no
    while set -q words[1]
        set -l word $words[1]
        set -e words[1]
        if test $value = yes
            set value no
        else if test $mark = no; and contains -- $word -x --exec
            printf '%s\n' $command $operands -x $words
            return
        else if test $mark = no; and test $word = --
            set mark --
        else if test $mark = no; and string match -q -- '-?*' $word
            contains -- $word $__unseen_valued; and set value yes
        else if test $command$operands$mark = filter0no; and contains -- $word (string replace -r '\t.*' '' -- $__unseen_commands)
            set command $word
        else
            set operands (math $operands + 1)
        end
    end
    printf '%s\n' $command $operands $mark
end

# __unseen_is COMMAND...: whether the command is one of these, and options may follow.
function __unseen_is
    set -l line (__unseen_read)
    test $line[3] = no; and contains -- $line[1] $argv
end

# Offers files that end in .bf first.
function __unseen_filters
    __fish_complete_suffix .bf
end

function __unseen_files
    __fish_complete_path (commandline -ct)
end

function __unseen_complete
    string match -q -- '--*=*' (commandline -ct); and return
    set -l line (__unseen_read)
    if test $line[3] = -x
        complete -C (string join ' ' -- (string escape -- $line[4..-1]) (commandline -ct))
        return
    end
    set -l kind __unseen_operands_$line[1]
    switch $$kind$line[2]
        case filter0 'filters*' filter-files0
            __unseen_filters
        case 'filter-files*' 'files*'
            __unseen_files
        case 'command*'
            printf '%s\n' $__unseen_commands
    end
    test $line[1]$line[2]$line[3] = filter0no; and printf '%s\n' $__unseen_commands
end

complete -c unseen -f -a '(__unseen_complete)'
