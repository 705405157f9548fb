# shellcheck shell=bash
# tools/bench/count.sh: for scripts that count instructions, which other work on the machine does not change; sourced.

count_dir=build/bench

# count_mark: in the emulated machine, begins to count or ends it.
count_mark()
{
	"$count_dir/count_mark"
}

# count_in_vm CPUS COMMAND...: runs a command in an emulated machine. For each two count_mark of it, it prints how many
# instructions programs and the kernel have made between these.
count_in_vm()
{
	local cpus=$1 cc=${CC:-gcc}
	shift

	mkdir -p "$count_dir" &&
		"$cc" -std=gnu11 -O2 -Wall -shared -fPIC -o "$count_dir/count.so" tools/bench/count.c &&
		"$cc" -std=gnu11 -O1 -Wall -static -o "$count_dir/count_mark" tools/bench/count_mark.c &&
		VM_ACCEL=tcg tools/vm --cpus "$cpus" --plugin "$PWD/$count_dir/count.so,out=$PWD/$count_dir/counts" "$@" >&2 || return
	awk '{ program = kernel = 0; for (i = 1; i <= NF; i++) { split($i, part, "+"); program += part[1]; kernel += part[2] } }
		NR % 2 { program_before = program; kernel_before = kernel; next }
		{ printf "%.0f %.0f\n", program - program_before, kernel - kernel_before }' "$count_dir/counts"
}
