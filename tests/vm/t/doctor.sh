#!/bin/bash
# zug doctor: it lists what this machine has and what is missing, says how to mend it, and is right.
# Takes 30 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
remember

# doctor STATUS REGEX...: each REGEX matches a line of its output.
doctor()
{
	local status=$1

	shift
	zug 60 doctor
	want_status "$status"
	while [ $# -gt 0 ]; do
		want_out "$1"
		shift
	done
}

# hidden PATH COMMANDS: runs zug doctor where an empty folder lies over PATH, after the shell's COMMANDS.
hidden()
{
	command_run 60 unshare -m sh -c "$2"'; mount -t tmpfs tmpfs "$0" && exec "$@"' "$1" "$zug" doctor
}

# The scheduler of this process itself is not there yet when the first probes are planted.
if begin "the processor's clock, without zugd"; then
	if [ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ]; then
		zug 60 check -q -n 4 -- "$programs/inputs/varies" rdtsc
		want_status 0
		want_out '^4 executions of one schedule, all the same: [0-9]+ steps'
		end
	else
		end SKIP 'a uprobe cannot change registers before Linux 6.18'
	fi
fi

if begin "nothing is missing"; then
	doctor 0 '^  ok +sched_ext ' '^  ok +types ' '^  ok +privileges' '^  ok +cgroup' '^  ok +scheduler' \
		'^  ok +trial .*executed under it \([0-9]+ steps\)' '^  ok +breakpoints' '^zug run works here\.$'
	! grep -q MISSING out || note "something is missing"
	want_nothing_left
	end
fi
if begin "no privileges"; then
	zug 60 --version
	command_run 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$zug" doctor
	want_status 3
	want_out '^  MISSING +privileges +missing privileges: CAP_SYS_ADMIN '
	want_out '^ +to mend it: run as root$'
	want_out '^zug run does not work here: 1 of what it needs is missing\.$'
	end
fi
if begin "no sched_ext, on each distribution"; then
	for id in debian ubuntu fedora arch; do
		case $id in
		debian) like='' wanted=trixie-backports ;;
		ubuntu) like=debian wanted=linux-generic ;;
		fedora) like='' wanted='dnf upgrade kernel' ;;
		arch) like='' wanted='boot a kernel from 6.16 to 7.0 with CONFIG_SCHED_CLASS_EXT' ;;
		esac
		printf 'NAME="x"\nID=%s\nID_LIKE="%s"\n' $id "$like" >os-release
		hidden /sys/kernel "mount --bind $dir/os-release \$(readlink -f /etc/os-release)"
		want_status 3
		want_out '^  MISSING +sched_ext .*no sched_ext'
		want_out "^ +to mend it: .*$wanted.*tools/vm"
		want_out '^  MISSING +types +/sys/kernel/btf/vmlinux: No such file'
	done
	end
fi
if begin "no types"; then
	hidden /sys/kernel/btf :
	want_status 3
	want_out '^  MISSING +types +/sys/kernel/btf/vmlinux: No such file'
	want_out 'CONFIG_DEBUG_INFO_BTF'
	end
fi
if begin "no cgroup v2"; then
	hidden /sys/fs/cgroup :
	want_status 3
	want_out '^  MISSING +cgroup +/sys/fs/cgroup is not cgroup v2'
	want_out 'unified_cgroup_hierarchy'
	end
fi
if begin "cgroup read-only, as in a container"; then
	command_run 60 unshare -m sh -c 'mount -o remount,bind,ro /sys/fs/cgroup && exec "$@"' sh "$zug" doctor
	want_status 3
	want_out '^  MISSING +cgroup +.*read-only'
	want_out 'privileged'
	end
fi
if begin "nothing can be written"; then
	# Only the trial sees this.
	command_run 60 unshare -m sh -c 'mount -t tmpfs -o ro tmpfs /run && exec "$@"' sh "$zug" doctor
	want_status 3
	want_out '^  MISSING +trial .*/run/zug.*Read-only'
	want_nothing_left
	end
fi
if begin "no QEMU"; then
	command_run 60 env PATH=/none "$zug" doctor
	want_status 0
	want_out '^  note +qemu +no qemu-system-x86_64'
	want_out '^ +to mend it: apt install qemu-system-x86'
	end
fi
if begin "another scheduler is loaded"; then
	"$zug" run -q --executions 0 -o traces -- "$programs/fixtures/nested-threads" >first.out 2>first.err &
	first=$!
	wait_scheduler enabled
	doctor 3 "^  MISSING +scheduler .*'zug[^']*' is loaded by zug \(pid $first\)" 'let zugd share it out'
	kill -INT $first
	wait $first
	end
fi
if begin "through zugd"; then
	export ZUG_SOCKET=$dir/zugd.sock
	command_run 60 "${zug}d" -q
	doctor 0 "^  note +scheduler .*is loaded" "^zug run works here: zugd \(pid [0-9]+\) answers at $ZUG_SOCKET"
	zug 60 stop
	want_status 0
	zug 60 doctor --socket "$ZUG_SOCKET"
	want_status 3
	want_out '^no zugd at '
	unset ZUG_SOCKET
	end
fi
# key: lists the folders in which programs are kept.
key() { ls -i /sys/fs/bpf/zugzwang 2>/dev/null; }
passes() { zug 60 run -q --executions 2 -o traces -- "$programs/abba-deadlock-fixed"; want_status 0; }
if begin "programs are kept"; then
	rm -rf /sys/fs/bpf/zugzwang
	randomise=$(cat /proc/sys/kernel/randomize_va_space)
	echo 2 >/proc/sys/kernel/randomize_va_space
	passes
	first=$(key)
	[ "$(wc -l <<<"$first")" = 1 ] || note "kept: '$first', not one folder"
	zug 60 check -n 3 -- "$programs/abba-deadlock-fixed"
	want_status 0
	[ "$(key)" = "$first" ] || note "loaded again: $(key), not $first"
	echo "$randomise" >/proc/sys/kernel/randomize_va_space
	mkdir -m 700 /sys/fs/bpf/zugzwang/other
	command_run 60 flock /sys/fs/bpf/zugzwang/"${first##* }" "$zug" run -q --executions 2 -o traces -- true
	want_status 0
	[ -d /sys/fs/bpf/zugzwang/"${first##* }" ] || note "what another process uses is gone"
	rm -rf /sys/fs/bpf/zugzwang/*
	mkdir -m 700 /sys/fs/bpf/zugzwang/other
	passes
	[ -z "$(key | grep other)" ] || note "what another build has left stays"
	want_nothing_left
	end
fi
if begin "programs are not kept"; then
	# Of another user; then without a BPF file system.
	chown 1 /sys/fs/bpf/zugzwang
	listed=$(ls -R /sys/fs/bpf)
	zug 60 run -q --executions 2 -o traces -- true
	want_status 0
	[ "$(ls -R /sys/fs/bpf)" = "$listed" ] || note "something was kept in another user's folder"
	chown 0 /sys/fs/bpf/zugzwang
	command_run 60 unshare -m sh -c 'umount /sys/fs/bpf && exec "$@"' sh "$zug" run -q --executions 2 -o traces -- true
	want_status 0
	end
fi
if begin "after a zug that was killed"; then
	for ((i = 0; i < 2; i++)); do
		"$zug" run -q --executions 0 -o traces -- "$programs/fixtures/nested-threads" >first.out 2>first.err &
		first=$!
		wait_scheduler enabled
		sleep 0.$((i * 4))
		kill -KILL $first
		{ wait $first; } 2>/dev/null
		zug 60 check -n 3 -- "$programs/abba-deadlock-fixed"
		want_status 0
	done
	want_nothing_left
	end
fi
begin "an unknown argument" && { zug 60 doctor now; want_status 2; want_err 'usage: zug doctor'; end; }
finish
