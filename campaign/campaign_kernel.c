// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The key `kernel` of a variant. What is built from source is written as
 *
 *	kernel:
 *	  git: {repo: ../linux, ref: v6.12-rc3}
 *	  patches: [series.mbox, <20241001.me@host>, -R revert-this.patch]
 *	  config: {target: tinyconfig, fragments: [guest.config]}
 *	  target: vmlinux
 *
 * and the key `source`, a program that is built for the host backend:
 *
 *	source: {git: {repo: ../tool, ref: v2}, build: make -s, deadline: 5m}
 */
#include <string.h>

#include "campaign/backends.h"
#include "campaign/campaign_reader.h"
#include "core/file.h"
#include "core/num.h"
#include "net/lore.h"

/* First the kinds, of which one is named. */
static const char *const kernel_keys[] = {
	"image",  "deb",    "git",    "tarball", "source", "release", "running",
	"modules", "load",   "initrd", "commit", "patches", "config", "target",
	"cflags", "deadline", NULL,
};
enum { N_KINDS = 7 };
/* Of those that are built. */
static const char *const recipe_keys[] = {
	"patches", "config", "target", "cflags", "deadline", NULL,
};
static const char *const program_keys[] = {
	"git", "patches", "build", "deadline", NULL,
};
static const char *const git_keys[] = {
	"repo", "ref", NULL,
};
static const char *const tarball_keys[] = {
	"url", "sha256", "size", "mirrors", "stall", NULL,
};
static const char *const source_keys[] = {
	"deb", NULL,
};
static const char *const config_keys[] = {
	"file", "target", "fragments", "running", NULL,
};
static const char *const targets[] = {"bzImage", "vmlinux", NULL};

/* "https://host/x", "git@host:x" */
static bool is_address(const char *s)
{
	const char *colon = strchr(s, ':');

	return strstr(s, "://") || (colon && memchr(s, '@', (size_t)(colon - s)) &&
				    !memchr(s, '/', (size_t)(colon - s)));
}

/* A file or an address: paths are relative to the campaign. */
static const char *path_or_address(struct reader *r, const char *s)
{
	return is_address(s) ? s : reader_path(r, s);
}

static bool is_package(const char *s)
{
	return *s && *s != '-' && reader_is_word(s, "+.-:=~");
}

static bool is_sha256(const char *s)
{
	return strlen(s) == 64 && !s[strspn(s, "0123456789abcdef")];
}

/* A mapping whose keys are known, or NULL after saying what it should be. */
static struct yaml_node *mapping(struct reader *r, struct yaml_node *map, const char *key,
				 const char *const *keys, const char *example)
{
	struct yaml_node *node = yaml_get(map, key);

	if (!node)
		return NULL;
	if (node->kind != YAML_MAPPING) {
		yaml_error(node, r->e, "'%s' takes a mapping such as %s", key, example);
		return NULL;
	}
	yaml_check_keys(node, keys, r->e);
	return node;
}

static void read_git(struct reader *r, struct yaml_node *k, struct kernel_recipe *recipe)
{
	struct yaml_node *git =
		mapping(r, k, "git", git_keys, "{repo: ../linux, ref: v6.12-rc3}");

	if (!git)
		return;
	yaml_get_string(git, "repo", &recipe->repo, r->e);
	yaml_get_string(git, "ref", &recipe->ref, r->e);
	if (!recipe->repo || !*recipe->repo || *recipe->repo == '-')
		yaml_error(git, r->e, "'git' needs repo: the folder or address of a repository");
	else if (!(recipe->remote = is_address(recipe->repo)))
		recipe->repo = reader_path(r, recipe->repo);
	if (!recipe->ref || !*recipe->ref || *recipe->ref == '-')
		yaml_error(git, r->e, "'git' needs ref: a branch, tag or commit");
}

static void read_checksum(struct reader *r, struct yaml_node *t, struct kernel_recipe *recipe)
{
	const char *const *url;
	bool remote = false;

	yaml_get_string(t, "sha256", &recipe->sha256, r->e);
	yaml_get_int(t, "size", 1, INT64_MAX, &recipe->size, r->e);
	yaml_get_duration(t, "stall", &recipe->stall, r->e);
	if (recipe->sha256 && !is_sha256(recipe->sha256))
		yaml_error(yaml_get(t, "sha256"), r->e, "'sha256' takes 64 digits 0-9 a-f");
	for (url = recipe->urls; *url; url++)
		remote |= is_address(*url) && !str_starts(*url, "file://");
	if (remote && !recipe->sha256) {
		yaml_error(t, r->e, "a tarball from the network needs its sha256");
		err_hint(r->e, "what is downloaded is built and booted; `sha256sum FILE` of a copy "
			       "you trust");
	}
}

/* {url: X, mirrors: [Y], sha256: ...}, or a file alone. */
static void read_tarball(struct reader *r, struct yaml_node *k, struct kernel_recipe *recipe)
{
	struct yaml_node *t = yaml_get(k, "tarball"), *alone = NULL;
	const char **mirrors = NULL, **urls, *url = NULL;
	size_t i, n = 0;

	if (!t)
		return;
	if (t->kind == YAML_SCALAR) {
		alone = t;
		url = t->text;
	} else {
		t = mapping(r, k, "tarball", tarball_keys, "{url: ADDRESS, sha256: DIGITS}");
		if (!t)
			return;
		yaml_get_string(t, "url", &url, r->e);
		yaml_get_list(r->a, t, "mirrors", &mirrors, &n, r->e);
	}
	if (!url || !*url || *url == '-') {
		yaml_error(t, r->e, "'tarball' needs url: an address or a file");
		return;
	}
	urls = arena_alloc_array(r->a, n + 2, sizeof(*urls));
	urls[0] = path_or_address(r, url);
	for (i = 0; i < n; i++)
		urls[i + 1] = path_or_address(r, mirrors[i]);
	recipe->urls = urls;
	if (!alone) {
		read_checksum(r, t, recipe);
	} else if (is_address(url) && !str_starts(url, "file://")) {
		yaml_error(t, r->e, "a tarball from the network needs its sha256");
		err_hint(r->e, "write it as tarball: {url: %s, sha256: DIGITS}", url);
	}
}

static void read_source(struct reader *r, struct yaml_node *k, struct kernel_recipe *recipe)
{
	struct yaml_node *node = mapping(r, k, "source", source_keys, "{deb: linux-source-6.1}");

	if (!node)
		return;
	yaml_get_string(node, "deb", &recipe->deb, r->e);
	if (!recipe->deb || !is_package(recipe->deb))
		yaml_error(node, r->e, "'source' needs deb: a package such as linux-source-6.1");
}

static void check_file(struct reader *r, const struct yaml_node *at, const char *what,
		       const char *path)
{
	if (!file_exists(path))
		yaml_error(at, r->e, "there is no %s %s", what, path);
	else if (file_is_dir(path))
		yaml_error(at, r->e, "the %s %s is a folder", what, path);
}

/* "-R FILE", "FILE", "<id@host>", "https://lore.kernel.org/r/id@host" */
static void read_patches(struct reader *r, struct yaml_node *k, struct kernel_recipe *recipe)
{
	struct yaml_node *node = yaml_get(k, "patches");
	struct kernel_patch *list;
	const char **texts;
	size_t n, i;

	if (!node || yaml_get_list(r->a, k, "patches", &texts, &n, r->e))
		return;
	list = arena_alloc_array(r->a, n + 1, sizeof(*list));
	for (i = 0; i < n; i++) {
		const struct yaml_node *at = node->kind == YAML_SEQUENCE ? node->items[i] : node;
		const char *text = texts[i], *id;

		if (str_starts(text, "-R ")) {
			list[i].reverse = true;
			text += 3 + strspn(text + 3, " ");
		}
		id = lore_message_id(r->a, text);
		if (!*text || *text == '-') {
			yaml_error(at, r->e, "a patch is a file, -R FILE or a <Message-ID>");
		} else if (id && (*text == '<' || strstr(text, "://"))) {
			list[i].text = lore_raw_address(
				r->a, *text == '<' ? arena_printf(r->a, "<%s>", id) : text,
				LORE_BASE);
		} else {
			list[i].text = reader_path(r, text);
			check_file(r, at, "patch", list[i].text);
		}
	}
	recipe->patches = list;
	recipe->n_patches = n;
}

static void read_config(struct reader *r, struct yaml_node *k, struct kernel_recipe *recipe)
{
	struct yaml_node *node = yaml_get(k, "config"), *list;
	const char **fragments = NULL;
	size_t n = 0, i;

	if (node && node->kind == YAML_SCALAR && !strcmp(node->text, "running")) {
		recipe->config_running = true;
		return;
	}
	node = mapping(r, k, "config", config_keys,
		       "{target: defconfig}, {file: PATH} or the word running");
	if (!node) {
		if (!yaml_get(k, "config"))
			recipe->config_target = "defconfig";
		return;
	}
	yaml_get_string(node, "file", &recipe->config_file, r->e);
	yaml_get_string(node, "target", &recipe->config_target, r->e);
	yaml_get_bool(node, "running", &recipe->config_running, r->e);
	if (!!recipe->config_file + !!recipe->config_target + recipe->config_running != 1) {
		yaml_error(node, r->e,
			   "'config' needs exactly one of file, target and running: yes");
		return;
	}
	if (recipe->config_target && (!reader_is_word(recipe->config_target, "_-.") ||
				      !str_ends(recipe->config_target, "config")))
		yaml_error(yaml_get(node, "target"), r->e,
			   "'%s' is no make target such as defconfig or tinyconfig",
			   recipe->config_target);
	if (recipe->config_file) {
		recipe->config_file = reader_path(r, recipe->config_file);
		check_file(r, yaml_get(node, "file"), "configuration", recipe->config_file);
	}
	list = yaml_get(node, "fragments");
	yaml_get_list(r->a, node, "fragments", &fragments, &n, r->e);
	for (i = 0; fragments && i < n; i++) {
		fragments[i] = reader_path(r, fragments[i]);
		check_file(r, list->kind == YAML_SEQUENCE ? list->items[i] : list, "fragment",
			   fragments[i]);
	}
	recipe->fragments = fragments;
}

static void read_target(struct reader *r, struct yaml_node *k, struct kernel_recipe *recipe)
{
	int i = yaml_get(k, "target") ? yaml_get_word(k, "target", targets, -1, r->e) : -1;

	if (i >= 0)
		recipe->target = targets[i];
}

static bool is_built(struct yaml_node *k)
{
	return yaml_get(k, "git") || yaml_get(k, "tarball") || yaml_get(k, "source");
}

static void read_recipe(struct reader *r, struct yaml_node *k, struct variant_config *v)
{
	struct kernel_recipe *recipe;
	const char *const *key;

	if (!is_built(k)) {
		for (key = recipe_keys; *key; key++)
			if (yaml_get(k, *key))
				yaml_error(yaml_get(k, *key), r->e,
					   "'%s' is for kernels that are built: git, tarball or "
					   "source",
					   *key);
		return;
	}
	recipe = arena_alloc(r->a, sizeof(*recipe));
	v->recipe = recipe;
	read_git(r, k, recipe);
	read_tarball(r, k, recipe);
	read_source(r, k, recipe);
	read_patches(r, k, recipe);
	read_config(r, k, recipe);
	read_target(r, k, recipe);
	yaml_get_string(k, "cflags", &recipe->cflags, r->e);
	yaml_get_duration(k, "deadline", &recipe->deadline, r->e);
}

/* A node as one text without the form it was written in. */
static void add_text(struct strbuf *sb, const struct yaml_node *node)
{
	size_t i;

	switch (node->kind) {
	case YAML_SCALAR:
		strbuf_addf(sb, "%zu:%s", strlen(node->text), node->text);
		break;
	case YAML_SEQUENCE:
		strbuf_addc(sb, '[');
		for (i = 0; i < node->n; i++)
			add_text(sb, node->items[i]);
		strbuf_addc(sb, ']');
		break;
	case YAML_MAPPING:
		strbuf_addc(sb, '{');
		for (i = 0; i < node->n; i++) {
			strbuf_addf(sb, "%s=", node->pairs[i].key);
			add_text(sb, node->pairs[i].value);
		}
		strbuf_addc(sb, '}');
		break;
	}
}

static void read_files(struct reader *r, struct yaml_node *k, struct variant_config *v)
{
	yaml_get_string(k, "deb", &v->deb, r->e);
	yaml_get_string(k, "image", &v->image, r->e);
	yaml_get_string(k, "release", &v->release, r->e);
	yaml_get_string(k, "initrd", &v->initrd, r->e);
	yaml_get_string(k, "commit", &v->commit, r->e);
	yaml_get_bool(k, "running", &v->running, r->e);
	if (v->image)
		v->image = reader_path(r, v->image);
	if (v->initrd)
		v->initrd = reader_path(r, v->initrd);
	if (v->deb && !is_package(v->deb))
		yaml_error(yaml_get(k, "deb"), r->e, "'%s' is no package name", v->deb);
}

/* Only guests need to be told: other machines load their modules themselves. */
static void read_modules(struct reader *r, struct yaml_node *k, struct variant_config *v)
{
	const char **load = NULL;
	size_t n;

	yaml_get_string(k, "modules", &v->modules, r->e);
	if (v->modules)
		v->modules = reader_path(r, v->modules);
	if (yaml_get(k, "load") && !yaml_get_list(r->a, k, "load", &load, &n, r->e))
		v->load = load;
	if (v->load && !v->modules && !v->deb) {
		yaml_error(k, r->e, "'load' needs 'modules', the folder where they lie");
		err_hint(r->e, "e.g. modules: lib/modules/6.12.9, load: [9p, virtio_pci]");
	} else if ((v->modules || v->load) && !r->guest) {
		yaml_error(k, r->e, "'modules' and 'load' are for guests: backend qemu");
	}
}

static void check_kind(struct reader *r, struct yaml_node *k)
{
	size_t i, n = 0;

	for (i = 0; i < N_KINDS; i++)
		n += yaml_get(k, kernel_keys[i]) != NULL;
	if (n != 1)
		yaml_error(k, r->e,
			   "'kernel' needs exactly one of image, deb, git, tarball, source, "
			   "release and running");
}

static void check_backend(struct reader *r, const struct yaml_node *k,
			  const struct variant_config *v)
{
	if (!strcmp(r->c->backend, "host")) {
		if (v->running)
			return;
		yaml_error(k, r->e, "the host backend measures the running kernel only");
		err_hint(r->e, "use backend: manual or qemu for variants with other kernels");
	} else if (v->running && (r->target || r->reboots)) {
		yaml_error(k, r->e, "'running' is another kernel after each restart");
		err_hint(r->e, "name it by what `uname -r` says: {release: 6.1.0-57-amd64}");
	} else if (v->release && r->guest) {
		yaml_error(k, r->e, "'release' is for kernels that are installed: manual, ssh");
		err_hint(r->e, "qemu boots kernels from a package (deb), an image or a source");
	}
}

/* Whether a backend needs to be told which kernel. */
static bool needs_kernel(const struct reader *r)
{
	return strcmp(r->c->backend, "host") && backend_find(r->c->backend);
}

void reader_read_source(struct reader *r, struct yaml_node *map, struct variant_config *v)
{
	struct yaml_node *node =
		mapping(r, map, "source", program_keys,
			"{git: {repo: ../tool, ref: v2}, build: make}");
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct kernel_recipe *recipe;

	if (!node)
		return;
	if (strcmp(r->c->backend, "host")) {
		yaml_error(node, r->e, "'source' is for programs of the host backend");
		err_hint(r->e, "a kernel is named by kernel: {git: {repo: PATH, ref: COMMIT}}");
		return;
	}
	recipe = arena_alloc(r->a, sizeof(*recipe));
	read_git(r, node, recipe);
	if (!yaml_get(node, "git"))
		yaml_error(node, r->e, "'source' needs git: {repo: PATH, ref: COMMIT}");
	read_patches(r, node, recipe);
	yaml_get_string(node, "build", &recipe->command, r->e);
	yaml_get_duration(node, "deadline", &recipe->deadline, r->e);
	add_text(&text, node);
	v->source = recipe;
	v->kernel_text = arena_printf(r->a, "%s source %s", v->kernel_text ? v->kernel_text : "",
				      strbuf_str(&text));
	v->kernel_line = node->line;
	v->kernel_column = node->column;
}

void reader_read_kernel(struct reader *r, struct yaml_node *map, struct variant_config *v)
{
	struct yaml_node *k = yaml_get(map, "kernel");
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!k) {
		if (!needs_kernel(r))
			return;
		yaml_error(map, r->e, "the variant '%s' lacks its kernel", v->name);
		err_hint(r->e,
			 "e.g. kernel: {deb: linux-image-cloud-amd64} or kernel: {image: PATH}");
		return;
	}
	v->kernel_line = k->line;
	v->kernel_column = k->column;
	if (k->kind == YAML_SCALAR && !strcmp(k->text, "running")) {
		v->running = true;
	} else if (k->kind != YAML_MAPPING) {
		yaml_error(k, r->e,
			   "'kernel' takes a mapping such as {deb: PACKAGE} or {image: PATH}");
		return;
	} else {
		yaml_check_keys(k, kernel_keys, r->e);
		check_kind(r, k);
		read_files(r, k, v);
		read_modules(r, k, v);
		read_recipe(r, k, v);
		add_text(&text, k);
		v->kernel_text = v->running ? NULL : arena_strdup(r->a, strbuf_str(&text));
	}
	check_backend(r, k, v);
}
