# shellcheck shell=bash disable=SC2154
# tests/matrix/build.sh: builds a planted program and its twin in one way; part of tests/matrix/run, whose arrays it reads.
multiarch=$(gcc -print-multiarch) clang_include=$(clang-19 -print-resource-dir)

# build VARIANT PROGRAM OUTPUT DEFINE...
build()
{
	local variant=$1 source=${source_of[$2]} output=$3 words=() libs=() word gcc=gcc clang=(clang-19)
	# the kernel's own headers, which musl does not have
	local after=(-idirafter /usr/include -idirafter "/usr/include/$multiarch")
	for word in ${build_of[$2]}; do
		case $word in -O*) ;; -l*) libs+=("$word") ;; *) words+=("$word") ;; esac
	done
	[[ $source != *.cc ]] || gcc=g++ clang=(clang-19 --driver-mode=g++)
	shift 3
	case $variant in *-O0) words+=(-O0) ;; *) words+=(-O2) ;; esac
	words+=(-g -pthread -w "$@")
	[[ $variant != musl-static-* ]] || libs+=(-static)
	[[ $variant != *-stripped ]] || libs+=(-s)
	case $variant in
	glibc-gcc-*) $gcc "${words[@]}" -o "$output" "$source" "${libs[@]}" ;;
	glibc-clang-*) "${clang[@]}" "${words[@]}" -o "$output" "$source" "${libs[@]}" ;;
	musl-*gcc-*) musl-gcc "${words[@]}" "${after[@]}" -o "$output" "$source" "${libs[@]}" ;;
	# clang has no such wrapper: it compiles, with musl's headers, and the other one links
	musl-*clang-*)
		clang-19 "${words[@]}" -fPIE -nostdinc -isystem "/usr/include/${multiarch/gnu/musl}" \
			-isystem "$clang_include/include" "${after[@]}" -c -o "$output.o" "$source" &&
			musl-gcc -o "$output" "$output.o" "${libs[@]}" && rm -f "$output.o"
		;;
	esac
}

# build_both VARIANT PROGRAM: the program and its twin, where they are not there already; what failed is in OUTPUT.log.
build_both()
{
	local output=$work/$1/$2 source=${source_of[$2]}

	[[ $output -nt $source && $output-fixed -nt $source && $output -nt tests/matrix/build.sh ]] ||
		build "$1" "$2" "$output" 2>"$output.log" && build "$1" "$2" "$output-fixed" -DFIXED 2>>"$output.log"
}
