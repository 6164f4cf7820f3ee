# What zsh offers to complete LINE to, one a line, in order:
#
#     zsh -f tests/completions.zsh DIRECTORY LINE      (DIRECTORY has _unseen)
#
# Completion runs only in the line editor, which wants a terminal: a shell on a pseudo-terminal gets
# LINE and a TAB, writes down what would be added to the list, and exits.
zmodload zsh/zpty || exit 77
offers=$(mktemp) || exit 1

setup='
    PS1= HISTFILE= LISTMAX=100000 fpath=('${(q)1}' $fpath)
    autoload -Uz compinit && compinit -u -D
    compadd() {
        local -a found
        if [[ ${argv[(I)-[OAD]]} -ne 0 ]]; then
            builtin compadd "$@"
            return
        fi
        builtin compadd -A found "$@"
        print -rl -- $found >>'${(q)offers}'
        builtin compadd "$@"
    }
    finish() { exit }
    comppostfuncs=(finish)
    bindkey "^I" complete-word
'
print -r -- "$setup" >$offers.setup
zpty shell zsh -f -i
zpty -w shell ". ${(q)offers}.setup"
zpty -w -n shell "$2"$'\t'
while zpty -r shell; do :; done >/dev/null
zpty -d shell
grep . $offers | sort -u
rm -f $offers $offers.setup
