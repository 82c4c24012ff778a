# SPDX-License-Identifier: GPL-2.0-or-later
# kdelta. `make demo` and `make check` are all a newcomer needs; `make help` lists the rest.

VERSION := 0.1.0
PREFIX ?= /usr/local
# An absolute path, as everywhere.
DESTDIR ?=
O ?= build
V ?= 0
SAN ?= 0
SHARED ?= 0
COVERAGE ?= 0
WERROR ?= 0
CC ?= gcc
# Objects of another kind lie apart, also under an O= of the command line.
ifeq ($(SAN),1)
override O := $(O)-san
endif
ifeq ($(COVERAGE),1)
override O := $(O)-cov
endif

ROOMS := core stats db machine parsers parsers/tables net jobs campaign kernels runner exchange targets hunt reports cli
SRC := $(sort $(foreach r,$(ROOMS),$(wildcard $(r)/*.c)))
OBJ := $(SRC:%.c=$(O)/%.o)
LIBOBJ := $(filter-out $(O)/cli/main.o,$(OBJ))
UNIT := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/*.c))
HELPERS := $(O)/kdelta-agent $(O)/kdelta-count $(O)/wakebench $(O)/pipepong
# The agent of guests and targets is static; jobs, settings and facts are those of the host.
AGENT_OBJ := $(addprefix $(O)/static/,guest/agent.o guest/facts.o guest/frames.o guest/share.o guest/target.o \
	guest/target_boot.o guest/target_jobs.o guest/target_lock.o guest/target_methods.o \
	jobs/job.o jobs/job_text.o jobs/beside.o jobs/count.o jobs/frame.o \
	runner/settings.o core/file.o core/proc.o core/proc_session.o core/mem.o core/str.o core/err.o core/num.o \
	$(patsubst %.c,%.o,$(filter-out machine/doctor%,$(wildcard machine/*.c))))

# Packages: what building needs, what the main job needs, what the tests need besides.
DEPS_BUILD := gcc make pkg-config libc6-dev libsqlite3-dev libyaml-dev r-mathlib libjansson-dev \
	libzstd-dev libarchive-dev libmd-dev libsmartcols-dev liblzma-dev zlib1g-dev libbz2-dev liblz4-dev \
	libcurl4-openssl-dev
DEPS_RUN := dbench rt-tests qemu-system-x86 busybox-static bc flex bison libelf-dev libssl-dev \
	xz-utils bzip2 ca-certificates gnuplot-nox
DEPS_TEST := libcmocka-dev jq libxml2-utils shellcheck sqlite3 python3 man-db procps openssl git \
	git-email strace libmailtools-perl python3-aiosmtpd dropbear-bin openssh-client e2fsprogs nginx-light
PC := sqlite3 yaml-0.1 jansson libzstd libarchive libmd smartcols

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	-Wwrite-strings
# What gcc does not count: formats passed on, and initialisers that name the first field only.
ifneq ($(findstring clang,$(CC)),)
WARN += -Wno-format-nonliteral -Wno-missing-field-initializers
endif
# What the compiler has of it; not in programs that are measured (wakebench, pipepong).
HARDEN := $(foreach f,-fstack-protector-strong -fstack-clash-protection -fcf-protection, \
	$(shell $(CC) $(f) -Werror -S -o /dev/null -x c /dev/null 2>/dev/null && echo $(f))) \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LDHARDEN := -Wl,-z,relro,-z,now,-z,noexecstack
CFLAGS ?= -O2 -g
KCFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -DKDELTA_VERSION='"$(VERSION)"' \
	-DKDELTA_PREFIX='"$(PREFIX)"' -include core/banned.h $(WARN) $(CPPFLAGS) $(CFLAGS) $(PC_CFLAGS)
# Loading shared libraries would be most of what a comparison costs, so what can be is linked
# statically; SHARED=1 is for distributions.
ifeq ($(SHARED),1)
LDLIBS := $(shell pkg-config --libs $(PC) 2>/dev/null) -lRmath -lz -lm
else
LDLIBS := -Wl,-Bstatic -lsqlite3 -lyaml -ljansson -larchive -lzstd -llzma -lz -lbz2 -llz4 -lmd \
	-lRmath -Wl,-Bdynamic -lsmartcols -lm
endif
PC_CFLAGS := $(shell pkg-config --cflags $(PC) 2>/dev/null)
ifeq ($(WERROR),1)
KCFLAGS += -Werror
endif
ifeq ($(SAN),1)
KCFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
else
KCFLAGS += $(HARDEN) -fPIE
LDFLAGS += -pie $(LDHARDEN)
endif
ifeq ($(COVERAGE),1)
KCFLAGS += --coverage
LDFLAGS += --coverage
endif
KDELTA := $(if $(filter 0,$(SAN)$(subst 0,,$(COVERAGE))),kdelta,$(O)/kdelta)
Q := $(if $(filter 0,$(V)),@,)
say = $(if $(filter 0,$(V)),@printf '  %-7s %s\n' '$(1)' '$(2)')

all: $(KDELTA) $(HELPERS)

$(KDELTA): $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(OBJ) $(LDLIBS)

$(O)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -MMD -MP -c -o $@ $<

# The schema is text in the program.
$(O)/db/schema.o: db/schema.sql
$(O)/reports/html.o: reports/html.css
$(O)/reports/pages.o: reports/pages.css reports/pages.js

# Objects of static programs: no sanitizer, so that they run as init in a small guest.
$(O)/static/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -DKDELTA_PREFIX='"$(PREFIX)"' -include core/banned.h $(WARN) -O2 -g $(STATIC_HARDEN) -MMD -MP -c -o $@ $<
$(AGENT_OBJ): STATIC_HARDEN := $(HARDEN)

$(O)/kdelta-agent: $(AGENT_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -static $(LDHARDEN) -pthread -o $@ $^ -ljansson -lmd -lz -lm

$(O)/wakebench $(O)/pipepong: $(O)/%: $(O)/static/guest/%.o
	$(call say,LD,$@)
	$(Q)$(CC) -static -pthread -o $@ $^ -lm

$(O)/kdelta-count: $(O)/static/guest/count.o
	$(call say,LD,$@)
	$(Q)$(CC) -static -o $@ $^

$(O)/tests/unit/%: tests/unit/%.c $(LIBOBJ) Makefile
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(LIBOBJ) $(LDLIBS) -lcmocka

$(O)/tests/bench/%: tests/bench/%.c $(LIBOBJ) Makefile
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(LIBOBJ) $(LDLIBS)

# Fuzzers: clang's libFuzzer over the pure rooms; `make fuzz SECONDS=60`, of each parser and family.
FUZZ_SRC := $(filter core/% stats/% parsers/% jobs/job_text.c jobs/count.c jobs/frame.c,$(SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZ_CC = clang -std=gnu11 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined -DKDELTA_VERSION='"fuzz"' -DKDELTA_PREFIX='"/"'
$(O)/fuzz-objects/%.o: %.c Makefile
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -MMD -MP -c -o $@ $<

$(O)/fuzz/%: $(O)/fuzz-objects/tests/fuzz/%.o $(FUZZ_SRC:%.c=$(O)/fuzz-objects/%.o)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -o $@ $^ $(LDLIBS)

help:
	@echo 'make            build ./kdelta and its helpers (second time: nothing)'
	@echo 'make demo       install what is missing, build, compare two real kernels'
	@echo 'make check      install what tests need, build with -Werror, run every test'
	@echo 'make check-slow the tests that boot many guests'
	@echo 'make bench      speed and error rates;  make fuzz SECONDS=60;  make deps'
	@echo 'make bench-bisect  runs that a bisection needs, and how often it is right'
	@echo 'make bench-scale  questions to 1 and 10 million samples, minutes'
	@echo 'make crash      kills and failing system calls at every place that changes something'
	@echo 'make man        the manual, in $$(O)/man'
	@echo 'make coverage   lines that tests execute, room by room'
	@echo 'make install DESTDIR= PREFIX=/usr/local;  make dist;  make deb;  make check-arm64;  make clean'
	@echo 'Variables: O= V=1 SAN=1 COVERAGE=1 SHARED=1 DEPS=no SUDO='

deps:
	@tests/deps.sh $(DEPS_BUILD) $(DEPS_RUN)

deps-check:
	@tests/deps.sh $(DEPS_BUILD) $(DEPS_RUN) $(DEPS_TEST)

demo: deps
	@$(MAKE) -j$$(nproc) --no-print-directory all
	@KDELTA=./$(KDELTA) examples/demo.sh

check: deps-check
	@$(MAKE) -j$$(nproc) --no-print-directory WERROR=1 all tests
	@KDELTA=$(KDELTA) O=$(O) SAN=$(SAN) tests/run.sh

check-slow: deps-check
	@$(MAKE) -j$$(nproc) --no-print-directory WERROR=1 all tests
	@KDELTA=$(KDELTA) O=$(O) SAN=$(SAN) tests/run.sh --slow

tests: $(UNIT)

bench: all $(addprefix $(O)/tests/bench/,stats monitors nights nightly)
	@KDELTA=./$(KDELTA) O=$(O) tests/bench/run.sh

bench-scale: all $(O)/tests/bench/scale
	@KDELTA=./$(KDELTA) O=$(O) tests/bench/scale.sh

bench-bisect: $(O)/tests/bench/bisect
	@$(O)/tests/bench/bisect

crash: all
	@KDELTA=./$(KDELTA) O=$(O) tests/crash/crash.py --all

# Lines that tests execute, room by room; 85 % at least in those that compute (docs/coverage.md).
coverage: deps-check
	@$(MAKE) -j$$(nproc) --no-print-directory COVERAGE=1 all tests
	@COVERAGE=1 KDELTA=$(O)-cov/kdelta O=$(O)-cov tests/run.sh unit/ cli/ parsers/ tables/
	@O=$(O)-cov tests/coverage.sh $(ROOMS)

SECONDS ?= 60
fuzz: $(FUZZERS)
	@O=$(O) SECONDS_EACH=$(SECONDS) tests/fuzz/run.sh

BIN := $(DESTDIR)$(PREFIX)/bin
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/kdelta
SHARE := $(DESTDIR)$(PREFIX)/share
UNITS ?= $(PREFIX)/lib/systemd/system
ZSH ?= zsh/site-functions
COMPLETIONS := bash:bash-completion/completions/kdelta zsh:$(ZSH)/_kdelta \
	fish:fish/vendor_completions.d/kdelta.fish
install_tree = find $(1) -type f -exec install -D -m 644 {} $(SHARE)/$(2)/{} \;
man: all
	@man/make.sh $(abspath $(KDELTA)) $(abspath $(O)/man)

install: man
	install -d $(BIN) $(LIBEXEC) $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/man/man7 \
		$(foreach c,$(COMPLETIONS),$(SHARE)/$(dir $(lastword $(subst :, ,$(c)))))
	install -m 755 $(KDELTA) $(BIN)/kdelta
	install -m 755 $(HELPERS) $(LIBEXEC)/
	$(call install_tree,configs,kdelta)
	cd examples && $(call install_tree,demo,kdelta)
	$(call install_tree,README.md docs $(wildcard examples/*.sh),doc/kdelta)
	for s in 1 5 7; do install -m 644 $(O)/man/*.$$s $(SHARE)/man/man$$s/ || exit 1; done
	for c in $(COMPLETIONS); do ./$(KDELTA) completion $${c%%:*} >$(SHARE)/$${c#*:} || exit 1; done
	install -D -m 644 systemd/kdelta-resume.service \
		$(DESTDIR)$(UNITS)/kdelta-resume.service

# The same bytes wherever it is made: what is committed, with the time of the commit.
DIST := kdelta-$(VERSION)
dist:
	$(Q)mkdir -p $(O)
	git -c tar.umask=0022 archive --format=tar --prefix=$(DIST)/ -o $(O)/$(DIST).tar HEAD
	xz -T1 -f $(O)/$(DIST).tar
	@cd $(O) && sha256sum $(DIST).tar.xz

deb:
	dpkg-buildpackage -us -uc -b

# Built for arm64 by a cross compiler, unit tests under qemu-user.
check-arm64:
	@tests/arm64.sh $(filter %-dev r-mathlib,$(DEPS_BUILD)) libcmocka-dev

clean:
	rm -rf $(O) $(O)-san $(O)-cov build-arm64 kdelta

.PHONY: all help man deps deps-check demo check check-slow tests bench bench-bisect crash coverage fuzz install dist deb check-arm64 clean
.SECONDARY:
-include $(OBJ:.o=.d) $(AGENT_OBJ:.o=.d) $(UNIT:%=%.d) $(wildcard $(O)/tests/bench/*.d) $(patsubst %.c,$(O)/fuzz-objects/%.d,$(FUZZ_SRC) $(wildcard tests/fuzz/*.c))
