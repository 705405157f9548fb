#!/bin/bash
# Every program of tests/programs/fixtures is right under every schedule, and ends as its header says under random
# schedules: no task runs without a grant (zug would end with status 4), nothing is left. LONG: its output, too.
# Takes 60 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

[ "${LONG:-}" ] && executions=50 || executions=5
folder=$project/tests/programs/fixtures

# ends_as KIND VALUE SECONDS OPTIONS... -- COMMAND...: $executions executions end in this way.
ends_as()
{
	local kind=$1 value=$2 seconds=$3

	shift 3
	if [ "$kind" = exit ]; then
		zug "$seconds" run -q --no-races --strategy random --executions $executions --expect-exit "$value" -o traces "$@"
		want_status 0
		want_out "^nothing found in $executions execution"
		return
	fi
	# The same end every time is the same finding every time.
	zug "$seconds" run -q --no-races --strategy random --executions $executions --keep-going -o traces "$@"
	want_status 1
	want_out "^found in execution 1, .*: (signal|abort)\$"
	! grep -E '^found in' "$dir/out" | grep -qvE ': (signal|abort)$' || note "$(grep '^found in' "$dir/out")"
	[ "$value" = ABRT ] || want_out "killed by SIG$value"
	! grep -E '^replayed: ' "$dir/out" | grep -qv '^replayed: 1 of 1' || note "$(grep '^replayed' "$dir/out")"
}

# prints REGEX OPTIONS... -- COMMAND...: the output of one execution, newlines as spaces, matches REGEX.
prints()
{
	local regex=$1 text

	shift
	zug 120 run -q --no-races --strategy random --executions 1 --expect-exit 250 --verify 0 --no-minimize -o traces "$@"
	want_status 1
	zug 30 show --json "$(kept_trace)"
	text=$(sed -n 's/.*"stdout_head":"\(\([^"\\]\|\\.\)*\)".*/\1/p' "$dir/out" | sed 's/\\n/ /g')
	grep -qE -- "^$regex *\$" <<<"$text" || note "output '$text', not '$regex'"
}

# With everything on, and without the daemon, where there is time.
if [ "${LONG:-}" ]; then remember; else use_daemon; fi
for source in "$folder"/*.c; do
	fixture=${source##*/}
	fixture=${fixture%.c}
	program=$programs/fixtures/$fixture
	begin "$fixture" || continue
	read_header "$source"
	read -r kind value <<<"${header[expect]}"
	read -ra options <<<"${header[options]:-}"
	read -ra args <<<"${header[args]:-}"
	case $fixture in
	fork-bomb)
		# At the limit of the sandbox its forks fail, and zug reports it.
		zug 120 run -q --no-races --strategy random --executions 1 --max-tasks 40 --expect-exit "$value" -o traces -- "$program" "${args[@]}"
		want_status 0
		want_err 'limit of tasks \(--max-tasks 40\)'
		;;
	print-much)
		[ "${LONG:-}" ] || args=(16)
		zug 300 run -q --executions 1 --timeout 200s --expect-exit 250 --verify 0 --no-minimize -o traces -- "$program" "${args[@]}"
		want_status 1
		zug 30 replay -q "$(kept_trace)"
		want_out 'first line'
		want_out 'last line'
		want_out 'output cut'
		[ "$(stat -c %s "$dir/out")" -lt 1000000 ] || note "$(stat -c %s "$dir/out") bytes of output were kept"
		;;
	long-run)
		# One execution: the first already has the end that is not expected.
		zug 200 run -q --executions 1 --timeout 150s --expect-exit 250 --verify 0 --no-minimize -o traces -- "$program" "${args[@]}"
		want_status 1
		want_out 'exit status 0 \(expected 250\)'
		;;
	kill-parked)
		# The killed task takes no further step. (With an error it took one, unless storage kept the turn.)
		zug 60 run -q --no-races --strategy random --executions 1 --expect-exit 250 --verify 0 --no-minimize -o traces -- "$program"
		want_status 1
		zug 30 show --json "$(kept_trace)"
		grep -q '"task":1,"op":"read"' "$dir/out" || note "the child has not come to its loop"
		after=$(sed -n '/"task":0,"op":"kill"/,$p' "$dir/out" | grep -c '"step":[0-9]*,"task":1,')
		[ "$after" = 0 ] || note "$after steps after its death"
		;;
	*)
		ends_as "$kind" "$value" 200 "${options[@]}" -- "$program" "${args[@]}"
		[ -z "${LONG:-}" ] || [ "$kind" != exit ] ||
			prints "${header[output]}" "${options[@]}" -- "$program" "${args[@]}"
		;;
	esac
	want_nothing_left
	end
done

# The number of CPUs that the test sees is the user's choice, and does not depend on the lane.
for cpus in 1 3; do
	if begin "nr-cpus of $cpus"; then
		prints "online $cpus affinity $cpus nproc $cpus" --cpus $cpus -- "$programs/fixtures/nr-cpus"
		end
	fi
done
finish
