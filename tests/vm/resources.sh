# shellcheck shell=bash
# tests/vm/resources.sh: functions for soaks, which source it after lib.sh: what processes of zug have and keep, as rows of a
# table.
bpftool=$(sed -n 's/^BPFTOOL := //p' "$project/build/config.mk")
"$bpftool" version >/dev/null || exit 3

# resources_heading NAMES: of the table, whose first columns are NAMES, with | between them
resources_heading()
{
	local heading="| $1 | memory, kB | descriptors | BPF links | programs | maps | control groups | files in /run |"

	printf '# %s\n' "$heading" "$(sed 's/[^|]\{1,\}/---/g' <<<"$heading")"
}

# resources FIRST PID...: prints a row that begins with FIRST, and has it as $now, without FIRST. The PIDs' memory and descriptors
# are added up.
resources()
{
	local first=$1 pid kb memory=0 descriptors=()

	shift
	for pid; do
		kb=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")
		memory=$((memory + ${kb:-0}))
		descriptors+=("/proc/$pid/fd"/*)
	done
	now=($memory ${#descriptors[@]}
		"$("$bpftool" link list | grep -c '^[0-9]')" "$("$bpftool" prog list | grep -c '^[0-9]')"
		"$("$bpftool" map list | grep -c '^[0-9]')" "$(find /sys/fs/cgroup -xdev -type d | wc -l)"
		"$(find /run -xdev -name 'zug*' | wc -l)")
	printf '# | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$first" "${now[@]}"
}

# want_no_more [EXECUTIONS]: $now, the last row, has at most a tenth more memory than $early, and no more of anything else, but
# for what one execution has meanwhile. Of so many executions between the two a search counts which differ, with 100 bytes each
# (search/seen.h: up to a quarter of a GiB).
want_no_more()
{
	local i names=(memory descriptors 'BPF links' programs maps 'control groups' 'files in /run')

	[ "${now[0]}" -le $((early[0] * 11 / 10 + ${1:-0} / 10)) ] || note "its memory grows from ${early[0]} to ${now[0]} kB"
	for i in 1 2 3 4 5 6; do
		[ "${now[i]}" -le $((early[i] + 3)) ] || note "${names[i]}: ${early[i]} have become ${now[i]}"
	done
}
