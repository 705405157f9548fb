# shellcheck shell=bash
# Completion of zug in bash. What there is to complete is asked of zug itself, so that it cannot differ from what zug
# knows: 'zug COMMAND --options' prints an option on each line, followed by the words that it takes.

# The words that an option of a command takes.
_zug_words()
{
	"$1" "$2" --options 2>/dev/null | sed -n "s/^$3 //p"
}

_zug()
{
	local zug=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command words i

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$zug" --help 2>/dev/null | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p') --help --version" -- "$current")
		return
	fi
	command=${COMP_WORDS[1]}
	# Behind -- is another command line.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" != -- ] || {
			mapfile -t COMPREPLY < <([ "$i" = $((COMP_CWORD - 1)) ] && compgen -c -- "$current"; compgen -f -- "$current")
			return
		}
	done
	case $before in
	--strategy) words=$("$zug" strategies 2>/dev/null | sed -n 's/^\([a-z][a-z0-9-]*\).*/\1/p') ;;
	--*) words=$(_zug_words "$zug" "$command" "$before") ;;
	*) words='' ;;
	esac
	case $current,$words in
	*,?*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
	-*) mapfile -t COMPREPLY < <(compgen -W "$("$zug" "$command" --options 2>/dev/null | sed 's/ .*//')" -- "$current") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	esac
}

complete -o filenames -o bashdefault -F _zug zug
