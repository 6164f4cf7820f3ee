# What zsh offers to complete each LINE to, one a line, with "==" after those of a LINE:
#
#     zsh -f tests/completions.zsh DIRECTORY LINE...      (DIRECTORY has _unseen)
#
# Completion runs only in the line editor, which wants a terminal: a shell on a pseudo-terminal gets
# LINE and a TAB, and writes down what would be added to the list.
zmodload zsh/zpty && zmodload zsh/zselect || exit 77
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
    finish() { print -r -- "==" >>'${(q)offers}'; comppostfuncs=(finish) }
    comppostfuncs=(finish)
    bindkey "^I" complete-word
    bindkey "^U" kill-whole-line
'
print -r -- "$setup" >$offers.setup
zpty shell zsh -f -i
zpty -w shell ". ${(q)offers}.setup"
shift
answered=0
for line; do
    zpty -w -n shell $'\C-u'"$line"$'\t'
    ((answered += 1))
    until (($(grep -cx '==' $offers) == answered)); do
        zpty -r -t shell >/dev/null || zselect -t 1
    done
done
zpty -d shell
grep . $offers
rm -f $offers $offers.setup
