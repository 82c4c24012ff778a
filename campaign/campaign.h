/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign as its YAML file says, checked; and the plan made from it. */
#ifndef CAMPAIGN_CAMPAIGN_H
#define CAMPAIGN_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "campaign/catalog.h"
#include "core/err.h"
#include "core/mem.h"

struct job;

struct setting {
	const char *name, *value;
};

/* A file, or a message of a mail archive by its Message-ID. */
struct kernel_patch {
	const char *text; /* path, or "<id@host>" */
	bool reverse;
};

/*
 * How a kernel is made from source: a tree (git, deb or tarball), patches, a configuration. Of a
 * program: a git tree, patches, a command.
 */
struct kernel_recipe {
	const char *repo, *ref; /* git: folder or address; branch, tag or commit */
	bool remote;		/* the repository is an address */
	const char *deb;	/* source package, "NAME" or "NAME=VERSION" */
	const char *const *urls; /* tarball: files or addresses in the order tried, NULL at the end */
	const char *sha256;	 /* of the tarball, NULL for files only */
	int64_t size;		 /* bytes of the tarball, 0: not said */
	double stall;		 /* seconds without progress before the next try, 0: 30 */
	const struct kernel_patch *patches;
	size_t n_patches;
	const char *config_file, *config_target; /* one of them, or config_running */
	bool config_running;
	const char *const *fragments; /* files, NULL at the end */
	const char *target;	      /* bzImage or vmlinux; NULL: what the backend boots best */
	const char *cflags;	      /* added to the compiler's options of a kernel, or NULL */
	const char *command;	      /* of the shell, builds a program; NULL: nothing to build */
	const char *fixup;	      /* patch for a tree that cannot be built without, or NULL */
	double deadline;	      /* seconds a build may last, 0: six hours */
};

struct variant_config {
	const char *name, *description;
	const char *same_as; /* a second arm of the variant of that name, or NULL */
	/* kernel: at most one of deb, image, release, recipe and running; none: the running one */
	const char *deb; /* package name or NAME=VERSION, meta packages are followed */
	const char *image, *initrd;
	const char *modules; /* a lib/modules/RELEASE, and what guests load of it */
	const char *const *load;
	const char *release; /* uname -r of an installed kernel (manual backend) */
	const struct kernel_recipe *recipe;
	bool running;
	const struct kernel_recipe *source; /* of a program (host): $KDELTA_SOURCE is its folder */
	const char *kernel_text; /* the above as one text: what was written, not what it is */
	int kernel_line, kernel_column;
	const char *commit; /* stated by the user, or NULL */
	const char *cmdline; /* words added to the kernel's command line */
	const char *memory;  /* "512M" of a guest, NULL: the campaign's */
	struct setting *sysctls;
	size_t n_sysctls;
	const char *const *features; /* sched_features, e.g. "NO_GENTLE_FAIR_SLEEPERS" */
	struct setting *knobs; /* files below /sys and /proc/sys, and what is written there */
	size_t n_knobs;
	struct setting *env;
	size_t n_env;
	const char *policy; /* scheduling policy of the benchmark, see proc_policy_parse(), or NULL */
	int nice;	    /* of the benchmark; 0: as ours */
	bool unwatched;	    /* no monitors beside its runs: see campaign_observe() */
	int line, column; /* in the file */
};

/* What is built for a variant: its program, else its kernel; NULL: nothing is. */
static inline const struct kernel_recipe *variant_recipe(const struct variant_config *v)
{
	return v->source ? v->source : v->recipe;
}

struct param_value {
	const char *name, *value;
	bool swept;
};

struct test_case {
	const struct bench_def *bench;
	int entry;		    /* index of its entry under `benchmarks:` */
	const char *program;	    /* of the benchmark, or `program:` of the campaign */
	const char *name;	    /* "tbench/clients=64/bind=node0" */
	const char *identity;	    /* hash of benchmark and all parameters */
	struct param_value *params; /* in the order of the benchmark's file, then bind */
	size_t n_params;
	const char *bind; /* "node0-1", "cpus0-3", NULL */
	const char *cpus; /* CPU list of the binding, "0-3"; NULL: all */
	double expected;  /* seconds on this backend */
	double stated;	  /* the same as the campaign says it, 0: not said */
	double deadline;  /* seconds; 0: from expected, see case_deadline */
	/* kernbench: one of deb, git, tarball; source_dir and build_dir once prepared */
	const char *source_deb, *source_git, *source_tarball, *config, *target;
	const char *source_dir, *build_dir;
	bool drop_caches;
};

/* The machine that backend ssh boots. */
struct target_config {
	const char *host, *user; /* user NULL: ssh's own default */
	int port;		 /* 0: ssh's own default */
	const char *known_hosts, *identity; /* files; NULL: the user's */
	const char *method;	    /* of booting: kexec, grub-reboot, bootctl, efibootmgr */
	const char *state;	    /* folder on the target */
	const char *cmdline;	    /* of every kernel; NULL: that of the target's safe one */
	const char *console;	    /* file on this machine that the target's console goes to */
	const char *const *reset;   /* command on this machine that resets a hanging target */
	double boot_deadline;	    /* seconds */
	bool keep_kernels;
};

/* The nodes that backend slurm measures on. */
struct slurm_config {
	const char *folder;	   /* that all nodes see, full path */
	const char *partition;	   /* NULL: Slurm's default */
	const char *program;	   /* kdelta on the nodes; NULL: this one's path */
	const char *const *nodes;  /* NULL at the end */
	const char **features;	   /* of the variants, as -C takes them */
	const char **build_ids;	   /* of the variants' kernels; NULL: not said */
	int attempts;		   /* jobs for one cell, and in a row for a kernel */
	double boot_deadline;	   /* seconds that a node may be down */
	double poll;		   /* seconds */
};

struct campaign_config {
	const char *name, *file, *text;
	const char *backend; /* host, host-reboot, manual, qemu, slurm, ssh */
	struct target_config target;
	struct slurm_config slurm;
	/*
	 * Flip mode: variants are switched inside one boot, every block is a tuple of runs of each
	 * test case, one of each variant, in an order of its own. repeat counts tuples.
	 */
	bool flip;
	int tuples;	/* in flip mode of one boot; 0: all of them */
	int repeat;	/* blocks: boots, or runs, of each variant */
	int runs;	/* of each test case in one boot */
	bool auto_repeat, auto_runs; /* left to the history of the machine, see run_split() */
	uint64_t seed;
	bool counting; /* instructions, and no times: see campaign_count() */
	const char *memory; /* of guests, default 512M, where they build 2G */
	int cpus;	    /* of guests, default 1 */
	int numa;	    /* nodes of guests, that memory and CPUs are split over; 0: as one */
	const char *const *monitors; /* names, NULL-terminated; NULL: none */
	double monitor_interval;     /* seconds; 0: the standard */
	bool monitor_per_cpu;
	struct variant_config *variants;
	size_t n_variants;
	struct test_case *cases;
	size_t n_cases;
};

/*
 * Reads and checks a campaign file; paths in it are relative to its folder. All errors are
 * reported together with file:line:column and a suggestion. "100%" of a count means the CPUs of
 * the binding, else of the guest or this machine.
 */
int campaign_read(struct arena *a, const char *path, const struct catalog *cat,
		  struct campaign_config **out, struct err *e);

/* The same from memory; path is only the name for messages and the folder of relative paths. */
int campaign_parse(struct arena *a, const char *path, const char *text, size_t len,
		   const struct catalog *cat, struct campaign_config **out, struct err *e);

/* Whether a benchmark builds a kernel. */
bool campaign_builds(const struct campaign_config *c);
/* Why the instructions of a benchmark are not counted: "runs for a set time ...". NULL: they are. */
const char *campaign_uncounted(const struct bench_def *bench);

/*
 * Makes a campaign of guests one that counts instructions (`run --icount`): `auto` work becomes
 * that of the benchmark's description, the campaign's seed 1 where none is given. Benchmarks that
 * run for a set time are left out, told to note (may be NULL); where nothing remains the default
 * suite comes (configs/icount.yaml). -EINVAL, with the place in the file: not a campaign of guests,
 * or of guests with several CPUs.
 */
int campaign_count(struct arena *a, struct campaign_config *c, const struct catalog *cat,
		   void (*note)(const char *text), struct err *e);

/*
 * Makes a campaign one that measures what its monitors cost (`run --observe-check`): the first
 * variant without and with them, the one without as baseline; in pairs within one boot where the
 * backend can, 20 unless it was flip mode before. -EINVAL: there are no monitors.
 */
int campaign_observe(struct arena *a, struct campaign_config *c, struct err *e);

/* Text of a parameter, NULL where the case has none of that name. */
const char *case_param(const struct test_case *c, const char *name);
/* Sets a parameter (replacing or adding it) and makes name and identity anew. */
void case_set_param(struct arena *a, struct test_case *c, const char *name, const char *value);
/* Makes name and identity from benchmark and parameters. */
void case_finish(struct arena *a, struct test_case *c);
/* Hash of a benchmark and its parameters, 16 hex digits. */
char *case_identity(struct arena *a, const char *benchmark, const struct param_value *params,
		    size_t n);
/* {"clients":"2","time":"5s"} */
char *case_params_json(struct arena *a, const struct test_case *c);
/* ["clients"]: names of the swept ones */
char *case_swept_json(struct arena *a, const struct test_case *c);
/* "simulated file-server traffic ...: clients 2, time 5s" */
char *case_describe(struct arena *a, const struct test_case *c);
/* The command as it would be typed, server and binding included. */
char *case_command(struct arena *a, const struct test_case *c);
/*
 * The job of one run. local: argv[0] is a full path on this machine; else the bare program name,
 * as inside a guest. slow: the guest is emulated.
 */
void case_job(struct arena *a, const struct test_case *c, bool local, bool slow, struct job *job);
/* Seconds after which a run hangs: an explicit one, or a multiple of the expected time. */
double case_deadline(const struct test_case *c, bool slow);
/* Sets c->expected from the benchmark's expression; slow: the guest is emulated. */
void case_estimate(struct test_case *c, bool slow);
/* Where the program of a case lies on this machine, NULL: not installed. */
char *case_program_path(struct arena *a, const struct test_case *c);
/* What is missing and where to get it: "tbench is not installed: apt-get install dbench". */
char *case_missing(struct arena *a, const struct test_case *c);

/*
 * Hash of a kernel's identity and all settings of a variant, 16 hex digits; of a second arm the
 * hash of its original's identity, the word "arm" and its own name.
 */
char *variant_identity(struct arena *a, const struct variant_config *v, const char *kernel);
/* Identity of the variant that an arm is the same as; NULL: it is no arm. */
char *variant_original_identity(struct arena *a, const struct variant_config *v,
				const char *kernel);
/*
 * {"cmdline": "", "sysctl": {}, "sched_features": [], "env": {}}; of an arm (original not NULL)
 * also "same_as": "identity of the original", by which reports find A/A pairs.
 */
char *variant_settings_json(struct arena *a, const struct variant_config *v, const char *original);

/* One planned run, in order of execution. */
struct plan_cell {
	int block, variant, test; /* block from 1; indexes */
};
/*
 * Randomised complete blocks: every block visits each variant once, in an order drawn from the
 * seed; two variants: AB and BA balanced as far as the number of blocks allows. Within a visit
 * every test case runs once, in a fixed order; c->runs times over. In flip mode every block has
 * each test case once, and there the variants in an order drawn for it alone, balanced likewise.
 */
struct plan_cell *plan_make(struct arena *a, const struct campaign_config *c, size_t *n);
/* Of the guests of a block that count, from 1: the same for all variants. */
int64_t campaign_guest_seed(const struct campaign_config *c, int block);
/*
 * Further blocks, numbered from `from` on. lead: of two variants, by how many more earlier blocks
 * began with the first than with the second; an odd number of blocks makes up for it. In flip mode
 * one of each test case, otherwise of the first only; NULL: there were no earlier blocks.
 */
struct plan_cell *plan_add(struct arena *a, const struct campaign_config *c, int from, int blocks,
			   const int *lead, size_t *n);

/*
 * First and last CPU of a node of a guest whose CPUs are split evenly; the last node has what is
 * left over. nodes: 0 or 1: none.
 */
void campaign_node_cpus(int cpus, int nodes, int node, int *first, int *last);

#endif
