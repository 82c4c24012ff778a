// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/proc.h"
#include "jobs/frame.h"
#include "runner/qemu.h"
#include "runner/settings.h"

/* What the guest does by itself: settings, the shell, and off it goes (guest/agent.c). */
static void add_orders(const struct variant_config *v, struct strbuf *orders)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *term = getenv("TERM");
	struct winsize size;
	size_t i;

	settings_encode(v, &text);
	if (text.len)
		frame_encode("set", text.buf, text.len, orders);
	strbuf_reset(&text);
	if (!ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		strbuf_addf(&text, "size %d %d\n", size.ws_row, size.ws_col);
	strbuf_addf(&text, "env TERM=%s\n", term && *term ? term : "dumb");
	for (i = 0; i < v->n_env; i++)
		strbuf_addf(&text, "env %s=%s\n", v->env[i].name, v->env[i].value);
	frame_encode("shell", text.buf, text.len, orders);
	frame_encode("end", "", 0, orders);
}

static int find_kernel(struct backend *b, int variant, struct err *e)
{
	struct kernel_found k;
	int ret = b->ops->find_kernel(b, variant, &k, e);

	return ret || !k.error ? ret : err_add(e, -ENOENT, "%s: %s", k.error, k.message);
}

int vm_shell(struct arena *a, const struct campaign_config *c, int variant,
	     void (*note)(const char *text), struct err *e)
{
	_cleanup_strbuf_ struct strbuf orders = STRBUF_INIT;
	struct backend b = {.ops = backend_find("qemu"), .a = a, .config = c, .note = note};
	struct guest_spec spec;
	int ret;

	if (strcmp(c->backend, "qemu"))
		return err_add(e, -EINVAL, "%s has no guests: its backend is %s", c->file,
			       c->backend);
	proc_init();
	ret = b.ops->prepare(&b, e);
	if (!ret)
		ret = find_kernel(&b, variant, e);
	if (!ret)
		ret = qemu_guest_spec(&b, variant, false, &spec, e);
	if (ret)
		return ret;
	add_orders(&c->variants[variant], &orders);
	ret = qemu_add_files(&b, variant, &orders, &spec, e);
	if (ret)
		return ret;
	if (note)
		note("`exit` or Ctrl-D leaves the guest, Ctrl-A X ends it");
	ret = guest_run_here(&spec, e);
	close(spec.initrd_fd);
	return ret;
}
