/* SPDX-License-Identifier: GPL-2.0-only */
/* code_loads.c - the loads of one function that read a member of a structure */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

/* No function is longer. */
#define BYTES_MAX (16u << 20)

static bool is_load(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, int32_t disp, unsigned int bytes)
{
	const ZydisDecodedOperand *from = &ops[in->mnemonic == ZYDIS_MNEMONIC_CMP ? 0 : 1];

	/* both can be probed, without other prefixes than REX */
	return (in->mnemonic == ZYDIS_MNEMONIC_MOV || in->mnemonic == ZYDIS_MNEMONIC_CMP) &&
	       from->type == ZYDIS_OPERAND_TYPE_MEMORY && from->size == 8 * bytes && from->mem.disp.value == disp &&
	       in->raw.prefix_count == !!(in->attributes & ZYDIS_ATTRIB_HAS_REX) && from->mem.index == ZYDIS_REGISTER_NONE &&
	       ZydisRegisterGetClass(from->mem.base) == ZYDIS_REGCLASS_GPR64 && from->mem.base != ZYDIS_REGISTER_RSP;
}

/* What was loaded last, and behind which registers that was tested by its lowest byte alone. */
struct tested {
	ZydisRegister loaded;
	uint8_t base;
	unsigned int since;		/* so many instructions ago */
	unsigned int times[16];		/* by the number of the base */
};

/* No compiler puts more between a load and the test. */
#define UNTIL_TEST 3

static void note_test(struct tested *t, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	if (t->since++ < UNTIL_TEST && in->mnemonic == ZYDIS_MNEMONIC_TEST && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].reg.value == ops[1].reg.value && ops[0].size == 8 &&
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, ops[0].reg.value) == t->loaded)
		t->times[t->base & 15]++;
}

/* Of the loads those behind the register where that was done most often; nothing where it never was. */
static uint32_t keep_tested(const struct tested *t, struct code_place *list, uint32_t nr)
{
	unsigned int most = 0;
	uint32_t kept = 0;

	for (unsigned int r = 1; r < 16; r++)
		if (t->times[r] > t->times[most])
			most = r;
	for (uint32_t i = 0; i < nr && t->times[most]; i++)
		if (list[i].base == most)
			list[kept++] = list[i];
	return kept;
}

int code_loads(const char *path, uint64_t begin, uint64_t end, int32_t disp, unsigned int bytes, bool low_byte,
	       struct code_place **list, uint32_t *nr)
{
	size_t size = end - begin, at = 0, room = 0;
	uint8_t *text = begin < end && end < UINT32_MAX && size < BYTES_MAX ? malloc(size) : NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = text && fd >= 0 ? 0 : -EINVAL;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct tested tested = { .since = UNTIL_TEST };
	ZydisDecodedInstruction in;

	*list = NULL;
	*nr = 0;
	if (!ret && pread(fd, text, size, begin) != (ssize_t)size)
		ret = -EIO;
	for (; !ret && at < size && code_decode(text + at, size - at, &in, ops); at += in.length) {
		note_test(&tested, &in, ops);
		if (!is_load(&in, ops, disp, bytes))
			continue;
		if (!ARRAY_RESERVE(*list, room, *nr + 1)) {
			ret = -ENOMEM;
			break;
		}
		(*list)[(*nr)++] = (struct code_place){
			.offset = begin + at, .disp = disp, .len = in.length, .size = bytes, .index = CODE_NO_REG,
			.base = ZydisRegisterGetId(ops[in.mnemonic == ZYDIS_MNEMONIC_CMP ? 0 : 1].mem.base),
		};
		tested.loaded = in.mnemonic == ZYDIS_MNEMONIC_CMP ? ZYDIS_REGISTER_NONE : ops[0].reg.value;
		tested.base = (*list)[*nr - 1].base;
		tested.since = 0;
	}
	if (low_byte)
		*nr = keep_tested(&tested, *list, *nr);
	if (fd >= 0)
		close(fd);
	free(text);
	if (ret) {
		free(*list);
		*list = NULL;
		*nr = 0;
	}
	return ret;
}
