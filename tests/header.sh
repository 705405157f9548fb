# shellcheck shell=bash
# read_header SOURCE: the lines `KEY: VALUE` of a test program's header, in ${header[KEY]}. (It starts no process,
# because a process costs 20 ms under emulation.)
declare -A header
read_header()
{
	local line

	header=()
	while IFS= read -r line; do
		[[ $line =~ ^(' * '|'# ')([a-z]+):' '*(.*)$ ]] || { [[ $line != *'*/'* ]] || break; continue; }
		[ -n "${header[${BASH_REMATCH[2]}]:-}" ] || header[${BASH_REMATCH[2]}]=${BASH_REMATCH[3]}
	done <"$1"
}
