# SPDX-License-Identifier: GPL-2.0-or-later
# Writes stats_golden.tsv to stdout: random data sets and what R says about them.
#   rank  untied|tied  x  y  p  shift  low95 high95  low979 high979  welch   (y against x)
#   bh    p  adjusted
# Data have few digits and tied data are integers, so that no difference of two values hangs on
# rounding. Usage: Rscript tests/unit/r-oracle.R > tests/unit/stats_golden.tsv
suppressMessages(suppressWarnings(library(exactRankTests)))
set.seed(20260217, "Mersenne-Twister", "Inversion", "Rejection")
options(warn = -1)

join <- function(v, digits = 17) paste(sprintf("%.*g", digits, v), collapse = ",")

# Two-sided p with ties from the two tails. wilcox.exact() itself computes the mean as
# n / N * sum(ranks), and where that rounds (11 against 15 values) it loses one point of a tail.
tied_p <- function(x, y) {
	r <- rank(c(x, y))
	m <- length(x)
	centre <- m * (length(r) + 1) / 2
	far <- abs(sum(r[1:m]) - centre)
	min(1, pperm(centre - far, r, m, alternative = "less") +
		pperm(centre + far, r, m, alternative = "greater"))
}

# Up to 50 values in the larger sample the exact test. Where no finite interval reaches the level R
# prints the widest one; kdelta prints an infinite one. With ties the shift is the median of all
# differences, as without; wilcox.exact() has another estimate.
rank_test <- function(x, y, tied, level) {
	exact <- max(length(x), length(y)) <= 50
	if (!exact) {
		w <- wilcox.test(y, x, exact = FALSE, conf.int = TRUE, conf.level = level,
			tol.root = 1e-12)
	} else if (tied) {
		w <- wilcox.exact(y, x, exact = TRUE, conf.int = TRUE, conf.level = level)
		w$p.value <- tied_p(x, y)
		w$estimate <- median(outer(y, x, "-"))
	} else {
		w <- wilcox.test(y, x, exact = TRUE, conf.int = TRUE, conf.level = level)
	}
	if (2 / choose(length(x) + length(y), length(x)) > 1 - level + 1e-12)
		w$conf.int <- c(-Inf, Inf)
	w
}

rank_line <- function(x, y, tied) {
	a <- rank_test(x, y, tied, 0.95)
	b <- rank_test(x, y, tied, 0.979)
	welch <- tryCatch(t.test(x, y)$p.value, error = function(e) NaN)
	cat("rank", if (tied) "tied" else "untied", join(x, 7), join(y, 7),
		join(a$p.value), join(a$estimate), join(a$conf.int[1]), join(a$conf.int[2]),
		join(b$conf.int[1]), join(b$conf.int[2]), join(welch), sep = "\t")
	cat("\n")
}

has_ties <- function(x, y) anyDuplicated(c(x, y)) > 0

untied <- function(n, shift) signif(exp(rnorm(n, shift, runif(1, 0.01, 0.5))) * 100, 7)
tied <- function(n, shift) round(rnorm(n, 20 + shift, sample(c(1, 2, 5), 1)))

# Equal sizes, then unequal ones, then one or both above 50
sizes <- rbind(cbind(3:12, 3:12), cbind(3:12, 3:12), cbind(3:12, 3:12),
	cbind(sample(3:14, 70, TRUE), sample(3:14, 70, TRUE)),
	cbind(sample(3:30, 30, TRUE), sample(3:30, 30, TRUE)),
	cbind(c(50, 50, 3, 41), c(50, 3, 50, 47)),
	cbind(c(51, 60, 51, 52, 60, 5, 60), c(51, 60, 50, 7, 59, 60, 3)))
for (i in seq_len(nrow(sizes))) {
	for (make in c(untied, tied)) {
		repeat {
			x <- make(sizes[i, 1], 0)
			y <- make(sizes[i, 2], sample(c(0, 0.05, -0.3, 1), 1))
			if (has_ties(x, y) == identical(make, tied) && length(unique(c(x, y))) > 2)
				break
		}
		rank_line(x, y, identical(make, tied))
	}
}
for (n in c(1:10, sample(11:60, 20))) {
	p <- signif(runif(n)^sample(1:4, 1), sample(c(2, 7), 1))
	cat("bh", join(p, 7), join(p.adjust(p, "BH")), sep = "\t")
	cat("\n")
}
