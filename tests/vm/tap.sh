# shellcheck shell=bash
# tests/vm/tap.sh: several TAP streams as one; sourced by run and machines.
shopt -s extglob

# renumber: passes a stream on with its tests in one numbering, counted in $nr and $nr_failed; sets $ran to the number of
# tests of the stream and $planned to its plan, empty without one. (A shell's loop, because awk would keep lines back until
# it had a block of them.)
nr=0 nr_failed=0
renumber()
{
	local line rest
	ran=0 planned=''
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			nr=$((nr + 1)) ran=$((ran + 1))
			[ "${line%%ok *}" = '' ] || nr_failed=$((nr_failed + 1))
			rest=${line#*ok }
			printf '%sok %d%s\n' "${line%%ok *}" $nr "${rest##+([0-9])}"
			;;
		1..*) planned=${line#1..} ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
}
