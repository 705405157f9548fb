#!/bin/bash
# What another user, another client or the test itself must not be able to do: docs/security.md has the list.
# Takes 65 s under emulation.
. "$(dirname "$0")/../lib.sh"
use_daemon
racy=$programs/lost-increment
fixed=$programs/lost-increment-fixed
nobody=65534

# A client that sends messages as they are, one a connection, then asks for the status each time, and then sends no message,
# and as many that are changed by chance as its second argument says. Without descriptors none can be executed.
cat >"$base/messages.py" <<'END'
import json, os, random, socket, sys

def ask(data):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect(sys.argv[1])
    answer = b''
    try:
        s.sendall(data)
        while True:
            b = s.recv(65536)
            if not b:
                break
            answer += b
    except OSError as e:
        answer += str(e).encode()
    return answer.decode(errors='replace')

def refused(message):
    answer = ask(message)
    if '"event":"refused"' not in answer.replace(' ', ''):
        print('not refused:', message, answer)

chance = random.Random(1)

def value(depth):
    kind = chance.randrange(9 if depth else 7)
    return [None, True, -1, 1e300, 'run', '/\u0000', chance.randrange(1 << 64)][kind] if kind < 7 else \
        [value(depth - 1) for i in range(chance.randrange(4))] if kind == 7 else \
        {chance.choice(['v', 'args', 'a', 'cwd']): value(depth - 1) for i in range(chance.randrange(4))}

def malformed():
    m = {'v': 1, 'request': chance.choice(['run', 'exec', 'replay']), 'args': ['--', 'true'], 'env': ['A=1'], 'cwd': '/'}
    for i in range(chance.randrange(1, 4)):
        name = chance.choice(list(m))
        if chance.randrange(3):
            m[name] = value(4)
        elif len(m) > 1:
            del m[name]
    data = bytearray(json.dumps(m).encode())
    for i in range(chance.choice([0, 0, 1, 5])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data).replace(b'\n', b' ') + b'\n'

for message in sys.stdin:
    refused(message.encode())
    answer = ask(json.dumps({'v': 1, 'request': 'status'}).encode() + b'\n')
    if '"event":"status"' not in answer.replace(' ', ''):
        print('no status after', message, answer)
ask(os.urandom(100000))
for i in range(int(sys.argv[2])):
    refused(malformed())
END

if begin "malformed messages while a search runs"; then
	# one connection that asks for nothing, and one that does not get to the end of its message
	/usr/bin/python3 - "$ZUG_SOCKET" <<-'END' >idle.out 2>&1 &
		import socket, sys, time
		silent, slow = (socket.socket(socket.AF_UNIX) for i in range(2))
		begin = time.monotonic()
		for s in silent, slow:
		    s.settimeout(60)
		    s.connect(sys.argv[1])
		slow.sendall(b'{"v":1,')
		for s in silent, slow:
		    print(s.recv(1000).decode(), int(time.monotonic() - begin), s.recv(1000))
	END
	idle=$!
	"$zug" run -q --executions 60 -o traces -- "$fixed" >search.out 2>&1 &
	search=$!
	/usr/bin/python3 "$base/messages.py" "$ZUG_SOCKET" $([ "${LONG:-}" = 1 ] && echo 50000 || echo 300) <<-'END' >answers 2>&1
		{"v":1,"request":"exec","args":[1,null],"env":[],"cwd":"/"}
		{"v":1,"request":"run","args":"x","env":[],"cwd":"/"}
		{"v":1,"request":"exec","args":[],"env":{"a":1},"cwd":"/"}
		{"v":1,"request":["status"]}
		{"v":1}
		{"v":1,"request":"run","args":["a\u0000b"],"env":[],"cwd":"/"}
		[]
		{"v":"1","request":"status"}
		{"v":1,"request":"run","args":["--","true"],"env":[],"cwd":"/"}
	END
	[ ! -s answers ] || note "$(cat answers)"
	zug 30 status
	want_status 0
	wait $search
	[ $? = 0 ] || note "the search that ran meanwhile: $(tail -n 3 search.out)"
	grep -q 'nothing found in 60 executions' search.out || note "the search's result: $(tail -n 3 search.out)"
	wait_end $idle || note "idle connections stay"
	[ "$(grep -cE '"refused".*no request came in time' idle.out)" = 2 ] && ! grep -qE ' [0-9] ' idle.out ||
		note "idle connections: $(cat idle.out)"
	end
fi

if begin "a --setup without an end"; then
	"$zug" run -q --executions 5 --setup 'sleep 1000' -- "$fixed" >search.out 2>&1 &
	search=$!
	sleeps() { pgrep -x -f 'sleep 1000' >/dev/null; }
	wait_until sleeps || note "--setup is not executed"
	kill -INT $search
	wait_end $search || note "the client did not end within a minute"
	wait $search
	[ $? = 5 ] || note "exit status $?, not 5: $(tail -n 3 search.out)"
	gone() { ! sleeps; }
	wait_until gone || note "the command lives on"
	nothing() { "$zug" status | grep -qx 'executing: nothing'; }
	wait_until nothing || note "$("$zug" status)"
	end
fi

if begin "links that others have planted"; then
	echo precious >precious
	mkdir zug-out planted
	for n in .new ''; do
		for i in 1 2; do
			ln -s "$PWD/precious" "zug-out/lost-increment.$i$n.trace"
		done
	done
	chown -Rh $nobody zug-out
	zug 60 run -q --seed 1 --executions 60 -- "$racy"
	want_status 1
	[ "$(cat precious)" = precious ] || note "the file behind the link was written to"
	rm -rf zug-out
	ln -s planted zug-out
	chown -h $nobody zug-out
	zug 60 run -q --seed 1 --executions 60 -- "$racy"
	want_status 2
	want_err 'cannot create the folder for traces zug-out: a symbolic link on the path belongs to another user'
	[ -z "$(ls planted)" ] || note "written through the link: $(ls planted)"
	zug 30 run -q --executions 2 -o traces --junit zug-out/results.xml -- "$fixed"
	want_err 'a symbolic link on the path belongs to another user'
	chown -h 0 zug-out
	zug 60 run -q --seed 1 --executions 60 --no-minimize --verify 0 -- "$racy"
	want_status 1
	ls planted/*.trace >"$dir/out" 2>&1 || note "root's own link was not followed"
	end
fi

if begin "a trace of another user"; then
	zug 60 run -q --seed 1 --executions 60 --no-minimize --verify 0 -o traces -- "$racy"
	trace=$(kept_trace)
	chown $nobody "$trace"
	for command in replay minimize diff; do
		zug 60 $command "$trace"
		want_status 2
		want_err "belongs to user $nobody, and to follow it is to execute what it says: '.*lost-increment' in .*--trust"
	done
	zug 60 pin "$trace" -o script
	want_status 2
	zug 60 replay -q --trust "$trace"
	want_status 1
	zug 60 show --brief "$trace"
	want_status 0
	want_err 'source lines are shown from below the current folder \(and --source\) only'
	! grep -q ' |' out || note "a source line from outside of the folder: $(grep ' |' out)"
	zug 60 show --brief --source "$project/tests" "$trace"
	grep -q ' |' out || note "no source line with --source"
	chown 0 "$trace"
	zug 60 show --brief "$trace"
	grep -q ' |' out || note "no source line of one's own trace"
	end
fi

if begin "a test leaves its cgroup"; then
	mkdir /sys/fs/cgroup/elsewhere
	cat >leave.sh <<-'END'
		echo $$ >/sys/fs/cgroup/elsewhere/cgroup.procs
		sleep 1001 &
		(sleep 1001 & )
	END
	zug 60 run -q --world shared --time real --executions 3 -o traces -- sh leave.sh
	want_status 0
	want_err 'processes of the test moved to another cgroup: zug ended them, too'
	left=$(cat /sys/fs/cgroup/elsewhere/cgroup.procs)
	[ -z "$left" ] || note "processes live on: $(ps -o pid,comm -p "${left//$'\n'/,}")"
	rmdir /sys/fs/cgroup/elsewhere
	want_nothing_left
	end
fi

if begin "memory"; then
	zug 60 run -q --executions 1 --memory-max 40M -o traces -- dd if=/dev/zero of=/dev/null bs=200M count=1
	want_status 1
	want_err 'met its limit of memory \(--memory-max, '
	# private folders and /dev/shm: of the machine's memory a quarter each
	total=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	zug 60 run -q --executions 1 -o traces -- sh -c "grep -qx 1000 /proc/self/oom_score_adj || exit 1
		for folder in /tmp /dev/shm; do [ \$(df -k --output=size \$folder | tail -n 1) -le $((total / 4 + 4)) ] || exit 2; done"
	want_status 0
	end
fi

if begin "a folder in ZUGD_LIBRARIES is not emptied"; then
	mkdir libraries
	for library in $(ldd "$zug" | sed -n 's|.* \(/[^ ]*\) .*|\1|p'); do
		: >"libraries/${library##*/}"
	done
	number=$(ls libraries | wc -l)
	command_run 30 env ZUGD_LIBRARIES="$dir/libraries" "${zug}d"
	want_status 3
	[ "$(ls libraries | wc -l)" = "$number" ] || note "files are gone: $(ls libraries | wc -l) of $number are left"
	end
fi

if begin "a reader that leaves"; then
	"$zug" run --seed 1 --executions 60 -o traces -- "$racy" | head -c 1 >/dev/null
	statuses=("${PIPESTATUS[@]}")
	[ "${statuses[0]}" = 1 ] || note "exit status ${statuses[0]}, not 1"
	ls traces/*.trace >"$dir/out" 2>&1 || note "no trace was kept"
	want_nothing_left
	command_run 60 sh -c '"$@" >/dev/full' sh "$zug" run -q --executions 1 -o traces -- "$fixed"
	want_status 3
	want_err '^zug.*: standard output: '
	end
fi

if begin "a cgroup that is removed"; then
	cgroups() { ls -d /sys/fs/cgroup/zug-*-[0-9]* 2>/dev/null | sort; }
	cgroups >before
	"$zug" run -q --start exec --executions 100000 -o traces -- "$fixed" >search.out 2>&1 &
	search=$!
	has_cgroup() { cgroup=$(cgroups | comm -13 before - | head -n 1); [ "$cgroup" ]; }
	wait_until has_cgroup || note "no cgroup"
	# It is empty for a moment between two executions; a shell's rmdir would hardly ever come in time.
	timeout 60 /usr/bin/python3 -c 'import os, sys
while os.path.exists(sys.argv[1]):
    try: os.rmdir(sys.argv[1])
    except OSError: pass' "$cgroup" || note "the cgroup '$cgroup' could not be removed"
	wait_end $search
	kill $search 2>/dev/null
	wait $search
	rc=$?
	[ $rc = 3 ] || note "exit status $rc, not 3: $(tail -n 3 search.out)"
	want_nothing_left
	end
fi

if begin "a test under sudo has its user's rights"; then
	mkdir -m 755 home && chown $nobody home && cd home || exit 2
	cat >who.sh <<-'END'
		[ "$(id -u) $(id -g) $(id -G)" = "65534 65534 65534" ] || { id; exit 11; }
		grep -q '^CapEff:[[:space:]]*0000000000000000$' /proc/self/status || exit 12
		grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status || exit 13
		[ "$USER $HOME" = "nobody $(getent passwd nobody | cut -d: -f6)" ] || exit 14
		! cat /etc/shadow 2>/dev/null || exit 15
		echo >here && echo >/tmp/there && echo >/dev/stdout || exit 16
		exit 3
	END
	sudo_env=(env SUDO_UID=$nobody SUDO_GID=$nobody)
	command_run 60 "${sudo_env[@]}" "$zug" run -q --executions 1 --no-minimize --verify 0 --setup 'test $(id -u) = 65534' -- sh who.sh
	want_status 1
	want_out 'exit status 3 '
	trace=$(kept_trace)
	[ "$(stat -c %u:%g zug-out "$trace" | sort -u)" = $nobody:$nobody ] || note "zug-out belongs to $(stat -c %u zug-out "$trace")"
	# a replay has the same rights, also without sudo
	zug 60 replay -q --trust "$trace"
	want_status 1
	want_out 'replayed 1 of 1 times exactly'
	command_run 60 "${sudo_env[@]}" "$zug" run -q --executions 1 --user root -o root -- sh -c '[ $(id -u) = 0 ]'
	want_status 0
	zug 60 run -q --executions 1 --user nobody -o root -- sh -c '[ $(id -u) = 65534 ]'
	want_status 0
	zug 60 run -q --executions 1 --user noone-here -o root -- true
	want_status 2
	want_err '^zug.*--user noone-here: there is no such user'
	# threads, and executions that are forked from one
	cp "$racy" racy
	command_run 60 "${sudo_env[@]}" "$zug" run -q --seed 1 --executions 60 -- ./racy
	want_status 1
	zug 60 replay -q --trust "$(kept_trace)"
	want_out 'replayed 1 of 1 times exactly'
	# the list of cases is made as the search is: with these rights, and in private files
	cat >cases.sh <<-'END'
		#!/bin/sh
		[ "$1" != --gtest_list_tests ] || { echo >listed && [ "$(id -u)" = 65534 ] && printf 'One.\n  Case\n'; }
	END
	chmod +x cases.sh
	command_run 60 "${sudo_env[@]}" "$zug" run -q --each-case --executions 1 -- ./cases.sh
	want_status 0
	want_out '^1 of 1 cases searched: 1 passed'
	[ ! -e listed ] || note "the list was made outside of the sandbox"
	cp /bin/true suid && chmod 4755 suid
	command_run 60 "${sudo_env[@]}" "$zug" run -q --executions 1 -o root -- ./suid
	want_err 'suid is a setuid or setgid program: it gets no other rights'
	end
fi

# The capabilities of docs/security.md
names=$(sed -n 's/^| \(CAP_[A-Z_, ]*\) |.*/\1/p' "$project/docs/security.md" | grep -o '[A-Z_]*')
# want_in_effect PID: exactly these are in effect in that process
want_in_effect()
{
	local c mask=0

	for c in $names; do
		mask=$((mask | 1 << $(sed -n "s/^#define $c[[:space:]]*\([0-9]*\)$/\1/p" /usr/include/linux/capability.h)))
	done
	[ "$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$1/status")" = "$(printf %016x $mask)" ] ||
		note "not $(printf %016x $mask) in $(<"/proc/$1/comm"): $(grep CapEff "/proc/$1/status")"
}

if begin "limits of zugd are not the test's"; then
	want_in_effect "$(pgrep -x zugd | head -n 1)"
	zug 30 exec -- sh -c 'ulimit -n'
	want_out "^$(ulimit -n)$"
	grep -q "^Max open files *$(ulimit -Hn) " "/proc/$(pgrep -x zugd | head -n 1)/limits" ||
		note "zugd has: $(grep files "/proc/$(pgrep -x zugd | head -n 1)/limits")"
	end
fi

# From here on without zugd.
stop_daemon
unset ZUG_SOCKET
remember

# as_user CAPABILITIES COMMAND...: as a user that has these alone, as ambient capabilities
as_user()
{
	command_run 60 setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps "-all,$1" --ambient-caps "-all,$1" "${@:2}"
}

# list NAMES [NAME]: capabilities as setpriv wants them, without NAME
list()
{
	local c

	for c in $1; do
		[ "$c" = "${2:-}" ] || printf '+%s\n' "${c#CAP_}"
	done | tr A-Z a-z | paste -sd,
}

if begin "no room for the state of a task"; then
	many=(sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; wait')
	command_run 60 env ZUG_DEBUG=tasks:6 "$zug" run -q --executions 1 --no-minimize --verify 0 -- "${many[@]}"
	want_status 1
	want_err '^zug.* has no room for the states of more tasks .*: forks failed'
	zug 60 run -q --executions 1 -- "${many[@]}"
	want_status 0
	want_nothing_left
	end
fi

# The summary is written before zug ends, which does not know by then why that failed.
if begin "a reader that has left before the summary"; then
	exec 3> >(:)
	wait $!
	command_run 60 sh -c '"$@" >&3' sh "$zug" run -q --executions 1 -o traces -- "$fixed"
	exec 3>&-
	want_status 0
	[ ! -s "$dir/err" ] || note "$(cat "$dir/err")"
	end
fi

if begin "a user with the capabilities of docs/security.md"; then
	mkdir -m 777 user && cp "$zug" "$racy" "$fixed" user && cd user || exit 2
	[ "$(wc -w <<<"$names")" = 15 ] || note "the table has: $names"
	as_user "$(list "$names")" ./zug run -q --seed 1 --executions 60 -- ./lost-increment
	want_status 1
	trace=$(kept_trace)
	[ "$(stat -c %u "$trace")" = 1000 ] || note "the trace belongs to user $(stat -c %u "$trace")"
	as_user "$(list "$names")" ./zug replay -q "$trace"
	want_status 1
	want_out 'replayed 1 of 1 times exactly'
	# shellcheck disable=SC2016
	as_user "$(list "$names")" ./zug run -q --executions 1 -o plain -- sh -c \
		'! grep "^Cap[IPEA].*:.*[1-9a-f]" /proc/self/status && grep "^NoNewPrivs:.1$" /proc/self/status && [ $(id -u) = 1000 ]'
	want_status 0
	"$zug" run -q --executions 1000000 -o effect -- ./lost-increment-fixed >effect.out 2>&1 &
	search=$!
	wait_until executes lost-increment-fixed || note "no search: $(cat effect.out)"
	want_in_effect $search
	kill -INT $search
	wait $search
	for c in $names; do
		as_user "$(list "$names" "$c")" ./zug run -q --executions 1 -o without -- true
		want_status 3 "without $c"
		want_err "^zug: missing privileges: $c \\([^)]*\\): "
		[ ! -e without ] || note "traces without $c"
	done
	want_nothing_left
	end
fi
finish
