# shellcheck shell=bash
# tests/vm/tap.sh: several TAP streams as one; sourced by run and machines.
shopt -s extglob

# renumber: passes a stream on with its tests in one numbering, counted in $nr and $nr_failed; sets $ran to the number of
# tests of the stream and $planned to its plan, empty without one. (A shell's loop, because awk would keep lines back until
# it had a block of them.) Where $held names a file, failed tests with the lines about them go there instead, not counted.
nr=0 nr_failed=0 held=''
renumber()
{
	local line rest holding=''
	ran=0 planned=''
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*) holding=${held:+${line%%ok *}} ran=$((ran + 1)) ;;
		1..*) holding='' ;;
		esac
		if [ "$holding" ]; then
			printf '%s\n' "$line" >>"$held"
			continue
		fi
		case $line in
		'ok '* | 'not ok '*)
			nr=$((nr + 1))
			[ "${line%%ok *}" = '' ] || nr_failed=$((nr_failed + 1))
			rest=${line#*ok }
			printf '%sok %d%s\n' "${line%%ok *}" $nr "${rest##+([0-9])}"
			;;
		1..*) planned=${line#1..} ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
}

# again MOST COMMAND...: runs the tests in $held once more, where there are at most MOST: COMMAND FILE PATTERN. Prints their
# lines, with those about the first failure; what passes now has a line `# second try: ...` before it.
again()
{
	local most=$1 all=$held name test line out
	shift
	held=''
	[ -s "$all" ] || return 0
	if [ "$(grep -c '^not ok ' "$all")" -gt "$most" ]; then
		renumber <"$all"
		return
	fi
	while read -r name; do
		# the name as a pattern
		test=${name#* } test=${test//\\/\\\\} test=${test//\*/\\*} test=${test//\?/\\?} test=${test//\[/\\[}
		nr=$((nr + 1))
		if out=$("$@" "${name%% *}" "$test" 2>&1); then
			echo "# second try: $name: failed, and passed when it was run once more, by itself"
			echo "ok $nr - $name"
		else
			nr_failed=$((nr_failed + 1))
			echo "not ok $nr - $name"
		fi
		while IFS= read -r line; do
			case $line in
			'not ok '*" - $name") echo '# the first time:' && while IFS= read -r line && [[ $line != 'not ok '* ]]; do
				printf '%s\n' "$line"
			done ;;
			esac
		done <"$all"
		printf '# once more:\n%s\n' "$(sed 's/^/# /' <<<"$out")"
	done < <(sed -n 's/^not ok [0-9]* - //p' "$all")
}
