#!/bin/bash
# What members of group zug can do through zugd of root, and what they cannot: docs/security.md has the list. Two users without
# a name, 2001 and 2002, are members here; 2003 is none. Takes 105 s under emulation.
. "$(dirname "$0")/../lib.sh"
zugd=${zug}d
racy=$programs/lost-increment
folder=/sys/fs/cgroup/zugd
root=/sys/fs/cgroup/cgroup.subtree_control

members_of_zug 2001 2002 2003
remember
mkdir -m 700 "$base/secret" && echo very-secret-name >"$base/secret/very-secret-name" &&
	chmod 644 "$base/secret/very-secret-name"

# What zugd loads it takes from where this one has pinned it, also on behalf of members.
"$zug" run -q --executions 1 -o "$base/pins" -- true >/dev/null || exit 2
echo -pids >$root
"$zugd" --foreground -q --user-time 60s 2>"$base/zugd.log" &
daemon=$!
serves() { "$zug" status >/dev/null 2>&1; }
wait_until serves || { cat "$base/zugd.log" >&2; exit 2; }

# member USER COMMAND...: as USER COMMAND..., as zug() of lib.sh
member()
{
	cd "$base/$1" || exit 2
	command_run 60 setpriv --reuid "$1" --regid "$1" --groups "$1,$gid" env "HOME=$base/$1" "${@:2}"
	cd "$dir" || exit 2
}
# of USER NAME: the newest process of that user with that name
of() { pgrep -n -u "$1" -x "$2"; }
logged() { has_line "$1" "$base/zugd.log"; }

# A search that goes on until it is ended: two tasks that compute.
begin_long()
{
	as 2001 "$zug" run -q --timeout 0 --max-steps 0 --executions 1 --no-minimize -o long -- \
		sh -c 'while :; do :; done & while :; do :; done' >long.out 2>&1 &
	long=$!
	computes() { mapfile -t tasks < <(pgrep -u 2001 -f "^sh -c while"); [ ${#tasks[@]} = 2 ]; }
	wait_until computes || note "the long search does not begin: $(cat long.out)"
	find_worker
}
# The process of the search that is executed, as $worker.
find_worker()
{
	worker=$("$zug" status --json | sed -n '/"running"/,/"queue"/s/^ *"pid": *\([0-9]*\),*$/\1/p')
	[ "$worker" ] || note "no worker: $("$zug" status --json)"
}
end_long()
{
	pkill -INT -u 2001 -f '^[^ ]*zug run' 2>/dev/null
	wait_end $long || note "the long search does not end"
	wait $long
	rc=$?
	idle() { "$zug" status | grep -qx 'executing: nothing'; }
	wait_until idle || note "$("$zug" status)"
}

# The end of a test, and of its zugd.
end_zugd()
{
	"$zug" stop >stop.out 2>&1 || note "$(cat stop.out)"
	wait $daemon
	rc=$?
	want_status 0 "zugd"
	[ $rc = 0 ] || note "zugd says: $(tail -n 5 "$base/zugd.log")"
	want_nothing_left
	end
}

if begin "the search of a member"; then
	[ "$(stat -c %a:%U:%g /run/zugd.sock)" = 660:root:$gid ] || note "the socket: $(stat -c %a:%U:%g /run/zugd.sock)"
	member 2001 sh -c "umask 077; exec '$zug' run -q --seed 1 --executions 60 -- '$racy'"
	want_status 1
	want_out 'T1 does data-read counter'
	trace=$base/2001/$(kept_trace)
	[ "$(stat -c %u:%g:%a "$trace" "$base/2001/zug-out" | tr '\n' ' ')" = '2001:2001:600 2001:2001:700 ' ] ||
		note "the trace and its folder: $(stat -c %u:%g:%a "$trace" "$base/2001/zug-out")"
	member 2001 "$zug" replay -q "$trace"
	want_status 1
	want_out 'replayed 1 of 1 times exactly'
	cat >"$base/2001/who.sh" <<-END
		[ "\$(id -u) \$(id -g) \$(id -G)" = '2001 2001 2001 $gid' ] || exit 11
		! grep '^Cap[IPEA].*:.*[1-9a-f]' /proc/self/status || exit 12
		grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status || exit 13
		[ "\$PWD" = '$base/2001' ] || exit 14
		[ "\$ZUG_DEBUG \$ZUG_OF_TEST" = ' ' ] || exit 15
		[ "\$LD_PRELOAD" = "\$PWD/none.so" ] || exit 16
		[ "\$(umask)" = 0027 ] || exit 17
		touch here /tmp/there || exit 18
		! ls $base/secret 2>/dev/null || exit 19
		! echo \$\$ 2>/dev/null >$folder/cgroup.procs || exit 20
	END
	member 2001 sh -c "umask 027; export LD_PRELOAD=\$PWD/none.so ZUG_DEBUG=events ZUG_OF_TEST=1 ZUGD_LIBRARIES=/tmp
		exec '$zug' run -q --executions 1 --no-minimize --verify 0 --setup 'exec sh who.sh' -- sh who.sh"
	want_status 0
	[ ! -e "$base/2001/here" ] || note "the member's folder was not private"
	! logged EXEC || note "ZUG_DEBUG of a member has reached zugd"
	! grep -qw pids $root || note "switched on in the root: $(cat $root)"
	[ -z "$(ls -d /sys/fs/cgroup/zug-* 2>/dev/null)" ] || note "in the root: $(ls -d /sys/fs/cgroup/zug-*)"
	end
fi

if begin "zug exec of two members"; then
	for user in 2001 2002 2001; do
		member $user "$zug" exec -- sh -c 'id -u; exit 3'
		want_status 3
		want_out "^$user$"
	done
	member 2001 "$zug" status
	want_out '^searches: 1$'
	want_out ' 2 executions '
	! grep -q "$base/2002" out || note "it tells of the other one's: $(cat out)"
	member 2001 "$zug" exec --world shared -- true
	want_status 125
	want_err 'zugd lets root alone use --world'
	end
fi

if begin "what only root may ask for"; then
	for option in '--world shared' '--world files,ipc' '--lane 0' '--name mine' '--max-tasks 5000' '--user root' '--user 2002'; do
		# shellcheck disable=SC2086
		member 2001 "$zug" run -q --executions 1 -o beyond $option -- true
		want_status 2 "$option"
		want_err 'root'
	done
	[ ! -e "$base/2001/beyond" ] || note "something was executed"
	member 2002 "$zug" run -q --seed 1 --executions 60 --no-minimize --verify 0 -- "$racy"
	want_status 1
	trace=$base/2002/$(kept_trace)
	# zug itself does not ask for that
	cat >replay.py <<-'END'
		import json, os, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.settimeout(60)
		s.connect('/run/zugd.sock')
		m = {'v': 1, 'request': 'replay', 'args': sys.argv[1:], 'env': [], 'cwd': os.getcwd()}
		socket.send_fds(s, [json.dumps(m).encode() + b'\n'], [0, 1, 2])
		print(s.recv(10000))
	END
	as 2002 /usr/bin/python3 - --gdb-socket gdb "$trace" <replay.py >said 2>&1
	has_line '"exit":2' said && has_line 'zugd lets root alone use a debugger' said || note "a debugger: $(cat said)"
	[ ! -e "$base/2002/gdb" ] || note "there is a socket for a debugger"
	member 2002 "$zug" stop
	want_status 3
	want_err 'only root and zugd.s own user may end zugd'
	logged 'refused: user 2002, process [0-9]+: only root' || note "not in the log: $(cat "$base/zugd.log")"
	chmod 666 /run/zugd.sock
	cd "$base/2003" && command_run 30 setpriv --reuid 2003 --regid 2003 --clear-groups "$zug" status; cd "$dir" || exit 2
	chmod 660 /run/zugd.sock
	want_status 3
	want_err 'zugd serves root, its own user and the members of group zug only'
	logged 'refused: user 2003, ' || note "not in the log: $(cat "$base/zugd.log")"
	cd "$base/2003" && command_run 30 setpriv --reuid 2003 --regid 2003 --clear-groups "$zug" status; cd "$dir" || exit 2
	want_status 3
	want_out 'Permission denied'
	as 2001 sh -c "echo \$\$ >$folder/zug/cgroup.procs" 2>/dev/null && note "a member came through the door"
	end
fi

if begin "files of others"; then
	mkdir -m 755 roots && echo precious >roots/precious && chmod 644 roots/precious
	cp /bin/true roots/hidden && chmod 700 roots/hidden
	cp /bin/true roots/unreadable && chmod 711 roots/unreadable
	cp "$racy" roots/suid && chmod 4755 roots/suid
	own=$base/2001
	as 2001 sh -c "ln -s $PWD/roots out; ln -s $PWD/roots/precious json; ln -s $base/secret temporary; ln -s /etc/shadow shadow"
	run=("$zug" run -q --executions 1 --no-minimize --verify 0)
	member 2001 "${run[@]}" -o out/traces -- false
	want_status 2
	member 2001 "${run[@]}" -o "$PWD/roots" -- false
	[ $rc != 0 ] || note "it ends with 0 where no trace can be written"
	for to in json "$PWD/roots/precious" /proc/sys/kernel/core_pattern; do
		member 2001 "${run[@]}" -o json-out --json "$to" -- true
		want_status 3 "--json $to"
	done
	for from in /etc/shadow shadow /proc/1/environ /proc/self/environ /proc/self/mem; do
		member 2001 "${run[@]}" -o in --stdin "$from" -- cat
		[ $rc = 2 ] || [ $rc = 3 ] || note "--stdin $from: status $rc: $(said 12)"
		member 2001 "${run[@]}" -o in --rules "@$from" -- true
		want_status 2 "--rules @$from"
		! grep -q 'root:' out err || note "it tells of $from: $(said)"
	done
	for program in hidden unreadable; do
		member 2001 "${run[@]}" -o in -- "$PWD/roots/$program"
		[ $rc != 0 ] || note "$program was executed under control"
	done
	member 2001 "${run[@]}" -o in --points sync -- "$PWD/roots/suid"
	want_err 'suid is a setuid or setgid program: it gets no other rights'
	# a folder for temporary files that only root may enter
	member 2001 env TMPDIR="$own/temporary" "${run[@]}" -o in -- sh -c "! ls $own/temporary/ && ! cat $own/temporary/very-secret-name"
	want_status 0
	member 2001 "${run[@]}" -o in --share "$base/secret/very-secret-name" -- true
	want_status 2
	# what the test puts in the place of its folder
	as 2001 mkdir -p deep/er
	cd "$own/deep/er" && command_run 60 setpriv --reuid 2001 --regid 2001 --groups 2001,$gid env TMPDIR="$own" "${run[@]}" -o "$own/in" -- \
		sh -c "cd .. && mv er away && ln -s $base/secret er"
	cd "$dir" || exit 2
	! grep -q very-secret out err || note "a name in a folder of root's: $(grep very-secret out err)"
	# what zugd writes to is what the member may write to
	as 2001 sleep 100 &
	disown
	wait_until of 2001 sleep >sleeper || note "no process"
	member 2001 sh -c "exec '$zug' exec -- echo -500 >/proc/$(of 2001 sleep)/oom_score_adj"
	[ "$(cat "/proc/$(of 2001 sleep)/oom_score_adj")" = 0 ] ||
		note "a member has changed it to $(cat "/proc/$(of 2001 sleep)/oom_score_adj")"
	pkill -u 2001 -x sleep
	[ "$(cat roots/precious) $(find roots | wc -l)" = 'precious 5' ] || note "root's files: $(find roots -ls)"
	# another member's trace
	member 2001 "$zug" run -q --seed 1 --executions 60 --no-minimize --verify 0 -o theirs -- "$racy"
	trace=$own/$(kept_trace)
	member 2002 "$zug" replay -q "$trace"
	want_status 2
	chmod 755 "$own"
	member 2002 "$zug" replay -q "$trace"
	want_status 2
	want_err 'belongs to user 2001'
	chmod 700 "$own"
	zug 60 replay -q "$trace"
	want_status 2
	want_err 'belongs to user 2001'
	end
fi

# An interpreter that a program names is executed to list libraries. This one says what it could reach.
if begin "a program's own interpreter"; then
	old=$(readelf -l "$racy" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	path=/tmp/zug-i && printf '#!/bin/sh\n{ id; grep Cap /proc/self/status; ls -l /proc/self/fd; } >/tmp/zug-told 2>&1\n' >$path && chmod 755 $path
	/usr/bin/python3 - "$racy" "$base/2001/odd" "$old" $path <<-'END'
		import sys
		data, old, new = open(sys.argv[1], 'rb').read(), sys.argv[3].encode(), sys.argv[4].encode()
		open(sys.argv[2], 'wb').write(data.replace(old + b'\0', new.ljust(len(old) + 1, b'\0'), 1))
	END
	chmod 755 "$base/2001/odd"
	member 2001 "$zug" run -q --executions 1 --no-minimize --verify 0 -o odd-out -- ./odd
	cp /tmp/zug-told told || note "it was not executed: $(said)"
	grep -q '^uid=2001 gid=2001 groups=2001,' told || note "whose rights: $(cat told)"
	! grep 'Cap[IPEA][nrfm][hmfb].*[1-9a-f]' told >caps || note "it has capabilities: $(cat caps)"
	! grep -E ' ([3-9]|[0-9]{2,}) -> ' told | grep -v '/proc/[0-9]*/fd\|/dev/null' >fds || note "it has: $(cat fds)"
	rm -f $path /tmp/zug-told
	end
fi

if begin "what is not one's own"; then
	begin_long
	for what in "kill -KILL $worker" "kill -STOP ${tasks[0]}" "kill -KILL ${tasks[1]}" "cat /proc/$worker/environ" \
		"cat /proc/${tasks[0]}/environ" "ls /proc/$worker/fd/" "ls $(echo /run/zug-*-m)" "ls /proc/${tasks[0]}/root/" \
		"tee /sys/fs/cgroup/zugd/user-2001/zug-$worker.*/cgroup.kill"; do
		as 2002 sh -c "echo 1 | $what" >stolen 2>&1 && note "another member can: $what: $(head -c 200 stolen)"
	done
	# its own member cannot, either
	for what in "cat /proc/$worker/environ" "ls /proc/$worker/fd/" "dd if=/proc/$worker/mem of=/dev/null bs=1 count=1" \
		"prlimit --pid $worker --nofile=1" "touch $(echo /run/zug-*-m)/x"; do
		as 2001 sh -c "$what" >stolen 2>&1 && note "the member can: $what: $(head -c 200 stolen)"
	done
	member 2002 "$zug" status
	want_status 0
	want_out '^requests of other users: 1$'
	! grep -q while out || note "it tells of the other one's: $(cat out)"
	"$zug" status | grep -q 'executing: run .*while.*(of user 2001' || note "root does not see it: $("$zug" status)"
	grep -q ' 900$' <<<" $(cat /proc/$worker/oom_score_adj)" || note "the worker's score is $(cat /proc/$worker/oom_score_adj)"
	grep -q "^0::/zugd/user-2001/zug-$worker\\..*-w$" /proc/$worker/cgroup || note "the worker is in $(cat /proc/$worker/cgroup)"
	end_long
	[ $rc = 5 ] || note "the search ended with $rc: $(tail -n 3 long.out)"
	end
fi

if begin "a member who disturbs"; then
	# the CPU of one's own tasks, from outside
	for which in 0 1; do
		begin_long
		as 2001 taskset -p 1 "${tasks[$which]}" >/dev/null || note "the CPUs cannot be changed"
		wait_end $long || note "the search goes on"
		end_long
		[ $rc = 3 ] || note "the search ended with $rc: $(tail -n 3 long.out)"
		has_line 'another process has changed the CPUs' long.out || note "it says: $(tail -n 3 long.out)"
	done
	# its worker stands still, and dies
	begin_long
	as 2001 sh -c "kill -STOP $worker"
	member 2002 "$zug" status
	want_status 0
	as 2001 sh -c "kill -KILL $worker"
	end_long
	[ $rc = 3 ] || note "the search ended with $rc: $(tail -n 3 long.out)"
	is_scheduler enabled || note "the scheduler is $(cat /sys/kernel/sched_ext/state)"
	cat >connect.py <<-'END'
		import socket, sys
		def connect():
		    s = socket.socket(socket.AF_UNIX)
		    s.settimeout(20)
		    s.connect('/run/zugd.sock')
		    return s
		s = connect()
		try:
		    s.sendall(b'"' + b'a' * (9 << 20))
		except OSError:
		    pass
		print('large', s.recv(1000))
		all = [connect() for i in range(17)]
		print('last', all[-1].recv(1000))
	END
	as 2002 /usr/bin/python3 - <connect.py >said 2>&1
	has_line 'large .*not a message of zug' said || note "a large message: $(cat said)"
	has_line 'last .*too many connections of this user' said || note "many connections: $(cat said)"
	# processes that --setup leaves
	member 2001 "$zug" run -q --executions 1 -o left --setup 'setsid sleep 1000 & setsid sleep 1000 &' -- true
	want_status 0
	gone() { ! pgrep -x sleep >/dev/null; }
	wait_until gone || note "what --setup has left lives on"
	member 2002 "$zug" run -q --seed 1 --executions 60 --no-minimize --verify 0 -- "$racy"
	want_status 1
	end
fi

begin "zugd leaves nothing" || { dir=$base/stop notes=() commands=(); mkdir -p "$dir" && cd "$dir" || exit 2; }
end_zugd

# From here on with another zugd, which has limits: two lanes, and memory.
if begin "a limit of memory needs its controller"; then
	echo -memory >$root
	command_run 60 "$zugd" --foreground --user-memory 150M
	want_status 3
	want_err "--user-memory needs the memory controller of cgroups, which $folder does not have"
	want_nothing_left
	end
fi
echo +memory >$root
cd "$base" || exit 2
"$zugd" --foreground -q --lanes 2 --user-memory 150M 2>"$base/zugd.log" &
daemon=$!
wait_until serves || { cat "$base/zugd.log" >&2; exit 2; }

if begin "a member with two lanes"; then
	for j in 1 2; do
		member 2001 "$zug" run -q -j $j --seed 1 --no-minimize --verify 0 --keep-going --executions 60 -o lanes -- "$racy"
		want_status 1
		grep -oE '(found|first) in execution [0-9]+' out >sums.$j
	done
	[ -s sums.1 ] && cmp -s sums.1 sums.2 || note "-j 2 came to something else: $(diff sums.1 sums.2)"
	# where its worker is killed, nothing of either lane stays
	as 2001 "$zug" run -q -j 2 --no-races --executions 0 -o lanes -- "$programs/abba-deadlock-fixed" >both.out 2>&1 &
	both=$!
	has_lanes() { "$zug" status | grep -qE '^executing: run .*-j 2 .*on CPUs [01] [01]'; }
	wait_until has_lanes || note "one lane only: $("$zug" status)"
	find_worker
	as 2001 sh -c "kill -KILL $worker"
	wait $both
	rc=$?
	want_status 3 "its worker was killed"
	gone() { [ ! -d $folder/user-2001 ]; }
	wait_until gone || note "it has left $(find $folder -type d)"
	member 2001 "$zug" run -q -j 2 --executions 20 -o lanes -- "${racy}-fixed"
	want_status 0
	end
fi

if begin "the memory of a member"; then
	# the test is what the kernel ends, and the member is told
	member 2001 "$zug" run -q --executions 1 --no-minimize --verify 0 -o eaten -- dd if=/dev/zero of=/dev/null bs=200M count=1
	want_status 1
	want_err 'met its limit of memory \(--memory-max, or zugd --user-memory\)'
	member 2002 sh -c "'$zug' exec -- true && exec '$zug' exec -- sh -c '! dd if=/dev/zero of=/dev/null bs=200M count=1'"
	want_status 0
	[ "$(cat $folder/user-2002/memory.max)" = $((150 << 20)) ] || note "the limit: $(cat $folder/user-2002/memory.max)"
	end
fi

begin "the second zugd leaves nothing" || { dir=$base/stop notes=() commands=(); mkdir -p "$dir" && cd "$dir" || exit 2; }
end_zugd
echo -memory >$root
no_members
finish
