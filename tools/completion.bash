# shellcheck shell=bash
# Completion of zug in bash. What there is to complete is asked of zug itself (--help, strategies), so that it cannot
# differ from what zug knows.

# Options of a command, one a line.
_zug_options()
{
	"$1" "$2" --help 2>/dev/null | sed -n 's/^  *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p'
	echo --help
}

_zug()
{
	local zug=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command i

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$zug" --help 2>/dev/null | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p') --help --version" -- "$current")
		return
	fi
	command=${COMP_WORDS[1]}
	# Behind -- is somebody else's command line.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" != -- ] || {
			mapfile -t COMPREPLY < <([ "$i" = $((COMP_CWORD - 1)) ] && compgen -c -- "$current"; compgen -f -- "$current")
			return
		}
	done
	case $before in
	--strategy)
		mapfile -t COMPREPLY < <(compgen -W "$("$zug" strategies 2>/dev/null | sed -n 's/^\([a-z][a-z0-9-]*\).*/\1/p')" -- "$current")
		return
		;;
	--points)
		mapfile -t COMPREPLY < <(compgen -W 'sync atomic syscall none' -- "$current")
		return
		;;
	--faults | --flows)
		# the message that refuses a wrong one names them
		mapfile -t COMPREPLY < <(compgen -W "$("$zug" run "$before" "?" 2>&1 | sed -n 's/.*: not \(.*\), or several.*/\1/p' | tr -d ,)" -- "$current")
		return
		;;
	--timeouts)
		mapfile -t COMPREPLY < <(compgen -W 'never explore' -- "$current")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current")
		return
		;;
	esac
	case $current in
	-*) mapfile -t COMPREPLY < <(compgen -W "$(_zug_options "$zug" "$command")" -- "$current") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	esac
}

complete -o filenames -o bashdefault -F _zug zug
