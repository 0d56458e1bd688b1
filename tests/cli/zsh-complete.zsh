# zsh-complete.zsh FOLDER LINE: with the functions of FOLDER: what zsh would complete the line with, a word a line.
zmodload zsh/zpty
out=$(mktemp)
zpty z zsh -f -i
zpty -w z "TERM=dumb; OUT=$out; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u
compadd() { [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd \"\$@\"; return }; local -a hits; builtin compadd -A hits \"\$@\"; print -rl -- \$hits >> \$OUT }
finished() { print -r -- END >> \$OUT }
comppostfuncs=(finished)
bindkey '^I' complete-word; print READY >> \$OUT"
wait_for() { repeat 100 { grep -q "$1" $out && return; sleep 0.1 }; return 1 }
wait_for READY && zpty -w -n z "$2"$'\t' && wait_for END
zpty -d z
grep -vxE 'READY|END|' $out
rm -f $out
