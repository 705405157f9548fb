# shellcheck shell=bash
# tests/vm/lib.sh: functions for the files of tests/vm/t, which source it. They run under tests/vm/run, as root, where a
# scheduler may be loaded.
#
#   begin NAME || continue    starts a test in a new folder of its own, $dir, and makes it the current one; false when
#                             NAME does not match the pattern (tests/vm/run FILE PATTERN)
#   zug SECONDS ARGUMENT...   runs zug; leaves its status in $rc and its output in $dir/out and $dir/err. SECONDS: more than
#                             it takes on a quiet machine; a busy one gets four times as long
#   command_run SECONDS C...  the same with any command
#   want_...                  notes a failure when the result is not the wanted one
#   end                       prints the test's line; a failed test's folder is kept in build/vm-failed
#   finish                    at the end of a file; a failed test when the pattern matches none of its tests
#
# LONG=1: everything that the docs claim; otherwise a part that takes minutes under emulation.
# ZUG: the zug that is tried (build/zug); zugd is a link beside it.
set -u
export LC_ALL=C.UTF-8

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/header.sh
. "$project/tests/header.sh"
zug=${ZUG:-$project/build/zug}
[ -x "$zug" ] && [ -x "${zug}d" ] || { echo "tests/vm/lib.sh: no $zug, or no ${zug}d, a link to it" >&2; exit 2; }
programs=$project/build/programs
file=$(basename "$0" .sh)
pattern=${1:-*}
base=${TMPDIR:-/tmp}/zug-vm-tests/$file
rm -rf "$base"
mkdir -p "$base"
nr_tests=0 nr_bad=0 nr_matched=0 dir=$base name='' rc=0 commands=() notes=()
ulimit -c 0

# is_wanted NAME: true when NAME matches the pattern.
is_wanted()
{
	# shellcheck disable=SC2254
	case $1 in $pattern) nr_matched=$((nr_matched + 1)) ;; *) return 1 ;; esac
}

begin()
{
	name=$1
	is_wanted "$name" || return 1
	dir=$base/${name//[^A-Za-z0-9._-]/_}
	mkdir -p "$dir" && cd "$dir" || exit 2
	commands=() notes=()
	started=${EPOCHREALTIME/[.,]/}
}

note()
{
	notes+=("$*")
}

# end [SKIP REASON]
end()
{
	local ms=$(((${EPOCHREALTIME/[.,]/} - started) / 1000)) line keep

	nr_tests=$((nr_tests + 1))
	if [ "${1:-}" = SKIP ]; then
		echo "ok $nr_tests - $file $name # SKIP ${*:2}"
	elif [ ${#notes[@]} = 0 ]; then
		echo "ok $nr_tests - $file $name"
	else
		nr_bad=$((nr_bad + 1))
		echo "not ok $nr_tests - $file $name"
		for line in "${notes[@]}"; do
			printf '# %s\n' "${line//$'\n'/$'\n'# }"
		done
		for line in ${commands[@]+"${commands[@]}"}; do
			printf '# ran: %s\n' "$line"
		done
		keep=$project/build/vm-failed/$file/${dir##*/}
		rm -rf "$keep"
		if mkdir -p "${keep%/*}" && cp -r "$dir" "$keep"; then
			echo "# its folder: ${keep#"$project"/}"
		fi
		echo "# again: tools/run-in-kernel tests/vm/run $file '$name'"
	fi
	[ -z "${TIMES:-}" ] || printf '# %6d ms %s %s\n' $ms "$file" "$name" >&2
	cd "$base" || exit 2
	[ ${#notes[@]} != 0 ] || rm -rf "$dir"
}

finish()
{
	[ -z "${ZUG_SOCKET:-}" ] || stop_daemon
	if [ $nr_matched = 0 ]; then
		nr_tests=$((nr_tests + 1)) nr_bad=$((nr_bad + 1))
		echo "not ok $nr_tests - $file has no test whose name matches '$pattern'"
	fi
	echo "1..$nr_tests"
	[ $nr_bad = 0 ]
	exit
}

command_run()
{
	local seconds=$1 out=$dir/out err=$dir/err

	shift
	commands+=("$*")
	timeout -k 10 $((seconds * 4)) "$@" </dev/null >"$out" 2>"$err"
	rc=$?
	[ $rc != 124 ] || note "no end after $((seconds * 4)) s: $*"
}

zug()
{
	local seconds=$1

	shift
	command_run "$seconds" "$zug" "$@"
}

# The last lines of output of the last command.
said()
{
	tail -n "${1:-4}" "$dir/err" "$dir/out" 2>/dev/null | cut -c1-300
}

want_status()
{
	[ $rc = "$1" ] || [ $rc = 124 ] || note "exit status $rc, not $1${2:+ ($2)}:"$'\n'"$(said)"
}

# want_out REGEX: in its output; want_err: in its error output.
want_out()
{
	grep -qE -e "$1" "$dir/out" || note "no '$1' in the output:"$'\n'"$(tail -n 6 "$dir/out" | cut -c1-300)"
}

want_err()
{
	grep -qE -e "$1" "$dir/err" || note "no '$1' in the error output:"$'\n'"$(tail -n 6 "$dir/err" | cut -c1-300)"
}

# The trace that the last run kept.
kept_trace()
{
	sed -n 's/^trace: \(.*\) ([0-9]* steps, .*/\1/p' "$dir/out" | tail -n 1
}

declare -A kernel_threads=()
# things: lists in $things, one a line, the processes (without this test's own helpers), the mounts (without tracefs,
# which the kernel mounts on access), and zug's cgroups and files.
things()
{
	local p comm folder type rest

	things=
	for p in /proc/[0-9]*; do
		[ -z "${kernel_threads[$p]:-}" ] || continue
		{ read -r comm <"$p/comm"; } 2>/dev/null || continue
		case $comm in
		bash | sh | timeout) continue ;;
		esac
		# Kernel threads have no program, and stay: there are many.
		if [ -e "$p/exe" ]; then
			things+="process $comm"$'\n'
		elif [[ $comm != kworker* ]]; then
			kernel_threads[$p]=1
		fi
	done
	while read -r _ folder type rest; do
		[ "$type" = tracefs ] || things+="mount $folder $type"$'\n'
	done </proc/self/mounts
	for p in /sys/fs/cgroup/zug* /sys/fs/cgroup/*/zug* /run/zug*; do
		[ ! -e "$p" ] || things+="$p"$'\n'
	done
	read -r comm </sys/kernel/sched_ext/state
	things+="the scheduler: $comm"
}

# wait_until COMMAND...: until it is true, for up to a minute; false when it never was. No test takes for granted how long
# something takes: a busy machine needs many times as long as a quiet one.
wait_until()
{
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# wait_scheduler STATE: until sched_ext is enabled, or disabled.
is_scheduler() { [ "$(</sys/kernel/sched_ext/state)" = "$1" ]; }
wait_scheduler() { wait_until is_scheduler "$1"; }

# wait_end PID: until the process, a child of this one, has ended.
has_ended() { ! kill -0 "$1" 2>/dev/null; }
wait_end() { wait_until has_ended "$1"; }

# executes NAME: true while a process with this name (at most 15 letters) exists: a test, or a template of one.
executes() { pgrep -x "${1:0:15}" >/dev/null; }

# members_of_zug USER...: group zug, $gid, until no_members, and a folder in $base for each of these users, who need no name.
members_of_zug()
{
	local user

	gid=4242
	{ cat /etc/group; echo "zug:x:$gid:"; } >"$base/group"
	mount --bind "$base/group" /etc/group || exit 2
	for user; do
		mkdir -m 700 "$base/$user" && chown "$user:$user" "$base/$user" || exit 2
	done
}
no_members() { umount /etc/group; }

# as USER COMMAND...: by that member of group zug, in its folder
as() { (cd "$base/$1" && exec setpriv --reuid "$1" --regid "$1" --groups "$1,$gid" env "HOME=$base/$1" "${@:2}"); }

# has_line REGEX FILE
has_line() { grep -qE -e "$1" "$2" 2>/dev/null; }

# Call before the first run; want_nothing_left compares with it.
remember()
{
	local thing

	things
	unset before
	declare -gA before
	while IFS= read -r thing; do
		before[$thing]=1
	done <<<"$things"
	# zugd makes the worker of the next command when it has nothing else to do
	[ -z "${before[process zugd]:-}" ] || before[process zugd-ahead]=1
}

# Call after every zug: nothing may be there that was not there before.
want_nothing_left()
{
	local thing left i

	# The kernel unloads the scheduler of a killed zug a little later.
	for ((i = 0; i < 300; i++)); do
		things
		left=
		while IFS= read -r thing; do
			[ -n "${before[$thing]:-}" ] || left+="$thing"$'\n'
		done <<<"$things"
		[ -n "$left" ] || return
		sleep 0.1
	done
	note "left behind: ${left%$'\n'}"
}

# use_daemon: call it instead of remember. One zugd serves the whole file, so that not every zug loads the scheduler,
# which takes seconds under emulation. It must run to the end, and leave nothing.
use_daemon()
{
	export ZUG_SOCKET=$base/zugd.sock
	if begin "zugd starts"; then
		command_run 60 "${zug}d" -q
		want_status 0
		end
	else
		"${zug}d" -q
	fi
	remember
}

stop_daemon()
{
	name="zugd leaves nothing" dir=$base/stop
	is_wanted "$name"
	started=${EPOCHREALTIME/[.,]/} commands=() notes=()
	mkdir -p "$dir" && cd "$dir" || exit 2
	zug 60 status
	want_status 0
	want_out '[0-9]'
	zug 60 stop
	want_status 0
	# Nothing of zug may be left now.
	things
	case $things in
	*/run/zug* | */sys/fs/cgroup/*zug* | *process\ zug* | *'scheduler: enabled') note "left behind: $things" ;;
	esac
	end
}
