// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs, results and frames as they come over a serial line. */
#include "tests/fuzz/fuzz.h"

#include "jobs/frame.h"
#include "jobs/job.h"

/* What was decoded once must survive being sent again. */
static void check_job(struct span text)
{
	_cleanup_arena_ struct arena *a = arena_new();
	_cleanup_strbuf_ struct strbuf again = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct job job;

	if (job_decode(a, text, &job, &e))
		return;
	job_encode(&job, &again);
	if (job_decode(a, (struct span){again.buf, again.len}, &job, &e))
		abort();
}

static void check_result(struct span text)
{
	_cleanup_strbuf_ struct strbuf again = STRBUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct job_result r;

	if (job_result_decode(text, &r, &e))
		return;
	job_result_encode(&r, &again);
	job_result_release(&r);
	if (job_result_decode((struct span){again.buf, again.len}, &r, &e))
		abort();
	job_result_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size}, type, body;
	size_t used;

	fuzz_begin();
	check_job(text);
	check_result(text);
	if (frame_decode(text, &type, &body, &used) >= 0 && used > size)
		abort();
	fuzz_end();
	return 0;
}
