#!/bin/bash
# The tutorial: every command of docs/tutorial.md, in its order; the installed zug is the one that runs.
# Takes 41 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
remember

# Lines of blocks: "$ COMMAND", with "# STATUS" behind it when that is not 0; the lines below must be in its output.
if begin "every command of the tutorial, with what make install installs"; then
	command_run 120 make -s -C "$project" install DESTDIR="$dir/root" PREFIX=/usr
	want_status 0
	PATH=$dir/root/usr/bin:$PATH
	mkdir -p tests && ln -s "$project/tests/programs" tests/programs
	block='' nr=0
	while IFS= read -r line; do
		case $line in
		'```'*)
			[ -z "$block" ] && block=1 || block=''
			continue
			;;
		esac
		[ "$block" ] || continue
		if [ "${line#\$ }" != "$line" ]; then
			wanted=0 words=${line#\$ }
			[[ $words =~ ^(.*)\ #\ ([0-9]+)$ ]] && words=${BASH_REMATCH[1]} wanted=${BASH_REMATCH[2]}
			command_run 120 bash -c "$words"
			want_status "$wanted" "$words"
			cat err >>out
			nr=$((nr + 1))
		else
			grep -qF -e "$line" out || note "no '$line' in what '$words' prints:"$'\n'"$(tail -n 8 out | cut -c1-300)"
		fi
	done <"$project/docs/tutorial.md"
	[ "$nr" -gt 10 ] || note "$nr commands only"
	[ -s account.html ] && [ -s account.core ] && [ -s account.xml ] || note "not all files are there: $(ls)"
	want_nothing_left
	end
fi
finish
