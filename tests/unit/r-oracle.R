# SPDX-License-Identifier: GPL-2.0-or-later
# Writes stats_golden.tsv to stdout: random data sets and what R says about them.
#   rank  untied|tied  x  y  p  shift  low95 high95  low979 high979  welch   (y against x)
#   bh    p  adjusted
#   family   variances  dfs  prior variance  prior df
#   history  log|raw  values  group sizes  prior variance  df
#   modt  x  y  prior variance  prior df  p  low95 high95  (of logs, y against x)
#   binomial  k n level  low high
#   pair  untied|tied  x  y  p  shift  low95 high95  low979 high979  t.test   (y against x, in pairs)
#   pairmodt  x  y  prior variance  prior df  p  low95 high95  (of log ratios)
#   summary  mean sd n  mean sd n  prior variance  prior df  p  low95 high95  (of logs)
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
rank_lines <- function(sizes, most = Inf) {
	for (i in seq_len(nrow(sizes))) {
		for (make in c(untied, tied)) {
			if (identical(make, tied) && max(sizes[i, ]) <= 50 && prod(sizes[i, ]) > most)
				next
			repeat {
				x <- make(sizes[i, 1], 0)
				y <- make(sizes[i, 2], sample(c(0, 0.05, -0.3, 1), 1))
				if (has_ties(x, y) == identical(make, tied) && length(unique(c(x, y))) > 2)
					break
			}
			rank_line(x, y, identical(make, tied))
		}
	}
}
rank_lines(sizes)
for (n in c(1:10, sample(11:60, 20))) {
	p <- signif(runif(n)^sample(1:4, 1), sample(c(2, 7), 1))
	cat("bh", join(p, 7), join(p.adjust(p, "BH")), sep = "\t")
	cat("\n")
}

# fitFDist() of limma in base R, without its options. The prior is worth no more
# than all rows together, where limma bounds only the total of the t-test.
trigamma_inverse <- function(x)
	uniroot(function(l) trigamma(exp(l)) - x, c(-30, 30), tol = 1e-14)$root |> exp()

fit_family <- function(s2, df) {
	s2 <- pmax(s2, 1e-5 * median(s2))
	e <- log(s2) - digamma(df / 2) + log(df / 2)
	spread <- var(e) - mean(trigamma(df / 2))
	if (spread <= 0)
		return(c(mean(s2), sum(df)))
	d0 <- 2 * trigamma_inverse(spread)
	c(exp(mean(e) + digamma(d0 / 2) - log(d0 / 2)), min(d0, sum(df)))
}

for (i in 1:40) {
	m <- sample(c(10:14, 40), 1)
	df <- sample(if (i %% 2) 8 else c(2, 4, 8, 17), m, TRUE)
	truth <- exp(rnorm(m, -9, sample(c(0, 0.2, 1, 4), 1)))
	s2 <- signif(truth * rchisq(m, df) / df, 7)
	if (i %% 5 == 0)
		s2[1] <- 0
	prior <- fit_family(s2, df)
	cat("family", join(s2, 7), join(df), join(prior[1]), join(prior[2]),
		sep = "\t")
	cat("\n")
}

for (i in 1:20) {
	size <- c(5, sample(1:9, sample(2:6, 1), TRUE), 8)
	group <- rep(seq_along(size), size)
	x <- signif(exp(rnorm(length(group), group, 0.01)) * sample(c(1, 1.3), length(group), TRUE), 7)
	raw <- i %% 4 == 0
	v <- if (raw) x - 3 else log(x)
	x <- if (raw) x - 3 else x
	r <- (v - ave(v, group))[size[group] > 1]
	df <- sum(size - 1)
	cat("history", if (raw) "raw" else "log", join(x, 7), join(size), join(max(sqrt(sum(r^2) / df), mad(r))^2),
		join(df), sep = "\t")
	cat("\n")
}

moderated <- function(difference, ss, df, nx, ny, prior) {
	# a prior that the values contradict is put aside
	if (pf(ss / df / prior[1], df, prior[2], lower.tail = FALSE) < 0.001)
		prior[2] <- 0
	total <- df + prior[2]
	se <- sqrt((ss + prior[2] * prior[1]) / total * (1 / nx + 1 / ny))
	c(2 * pt(-abs(difference / se), total), difference + c(-1, 1) * qt(0.975, total) * se)
}

for (i in 1:30) {
	x <- signif(exp(rnorm(sample(2:9, 1), 5, 0.01)), 7)
	y <- signif(exp(rnorm(sample(2:9, 1), 5 + sample(c(0, 0.02), 1), 0.01)), 7)
	prior <- signif(c(0.0001 * rchisq(1, 5) / 5, sample(c(0.4, 10, 16, 80), 1)), 7)
	m <- moderated(mean(log(y)) - mean(log(x)), sum((log(x) - mean(log(x)))^2) +
		sum((log(y) - mean(log(y)))^2), length(x) + length(y) - 2, length(x), length(y), prior)
	cat("modt", join(x, 7), join(y, 7), join(prior[1], 7), join(prior[2], 7), join(m[1]), join(m[2]),
		join(m[3]), sep = "\t")
	cat("\n")
}

# Where the prior's df is 0: Welch
for (i in 1:20) {
	n <- sample(5:20, 2)
	mean <- signif(exp(rnorm(2, 3, 0.01)), 7)
	sd <- signif(mean * runif(2, 0.001, 0.02), 7)
	cv <- sd / mean
	prior <- if (min(n) < 10 && i %% 2) c(0.0001, 16) else c(0, 0)
	if (prior[2]) {
		m <- moderated(log(mean[2] / mean[1]), sum((n - 1) * cv^2), sum(n) - 2, n[1], n[2], prior)
	} else {
		v <- cv^2 / n
		df <- sum(v)^2 / sum(v^2 / (n - 1))
		d <- log(mean[2] / mean[1])
		m <- c(2 * pt(-abs(d) / sqrt(sum(v)), df), d + c(-1, 1) * qt(0.975, df) * sqrt(sum(v)))
	}
	cat("summary", mean[1], sd[1], n[1], mean[2], sd[2], n[2], join(prior[1]), join(prior[2]),
		join(m[1]), join(m[2]), join(m[3]), sep = "\t")
	cat("\n")
}

# Every size from 2 to 60, on either side, balanced and not; R takes seconds for many tied values
rank_lines(rbind(cbind(2:3, 2:3), cbind(2, c(3:10, 20, 49, 60)), cbind(c(3:10, 20, 49, 60), 2),
	cbind(c(16, 24, 32, 60), c(16, 24, 32, 60)), cbind(2:60, sample(2:60))), 600)

for (i in 1:20) {
	n <- sample(c(1:10, 40, 200, 4000), 1)
	k <- if (i <= 2) (i - 1) * n else rbinom(1, n, sample(c(0.05, 0.3, 0.9), 1))
	level <- sample(c(0.9, 0.95), 1)
	ci <- binom.test(k, n, conf.level = level)$conf.int
	cat("binomial", k, n, level, join(ci[1]), join(ci[2]), sep = "\t")
	cat("\n")
}

# Signed ranks of pairs. With ties and zeros the p is the exact one of the ranks given; the interval
# is that of untied values (the Walsh averages that wilcox.test() takes) over all pairs.
pair_test <- function(x, y, tied, level) {
	n <- length(x)
	if (!tied) {
		w <- wilcox.test(y, x, paired = TRUE, exact = TRUE, conf.int = TRUE, conf.level = level)
	} else {
		d <- y - x
		walsh <- outer(d, d, "+") / 2
		walsh <- sort(walsh[lower.tri(walsh, TRUE)])
		q <- max(1, qsignrank((1 - level) / 2, n))
		p <- if (all(d == 0)) 1 else wilcox.exact(d, exact = TRUE)$p.value
		w <- list(p.value = p, estimate = median(walsh),
			conf.int = walsh[c(q, length(walsh) + 1 - q)])
	}
	if (2 / 2^n > 1 - level + 1e-12)
		w$conf.int <- c(-Inf, Inf)
	w
}

pair_line <- function(x, y, tied) {
	a <- pair_test(x, y, tied, 0.95)
	b <- pair_test(x, y, tied, 0.979)
	t <- tryCatch(t.test(y, x, paired = TRUE)$p.value, error = function(e) NaN)
	cat("pair", if (tied) "tied" else "untied", join(x, 7), join(y, 7), join(a$p.value),
		join(a$estimate), join(a$conf.int[1]), join(a$conf.int[2]), join(b$conf.int[1]),
		join(b$conf.int[2]), join(t), sep = "\t")
	cat("\n")
}

for (n in c(2:60, sample(5:20, 60, TRUE))) {
	level <- 100 + cumsum(rnorm(n, 0, 3))
	repeat {
		x <- round(level + rnorm(n), 3)
		y <- round(level + rnorm(n, sample(c(0, 0.5, 2), 1)), 3)
		d <- y - x
		if (!anyDuplicated(round(abs(d), 3)) && all(d != 0))
			break
	}
	pair_line(x, y, FALSE)
	x <- sample(20:26, n, TRUE)
	pair_line(x, x + sample((-2):(2 + n %% 3), n, TRUE), TRUE)
}
pair_line(c(5, 6, 7, 8, 9, 10), c(5, 6, 7, 8, 9, 10), TRUE)
pair_line(1:8, 2:9, TRUE)

for (i in 1:30) {
	n <- sample(2:9, 1)
	x <- signif(exp(rnorm(n, 5, 0.05)), 7)
	y <- signif(x * exp(rnorm(n, sample(c(0, 0.01), 1), 0.01)), 7)
	prior <- signif(c(0.0001 * rchisq(1, 5) / 5, sample(c(0.4, 10, 16, 80), 1)), 7)
	d <- log(y) - log(x)
	# as one sample: the second of no spread and no error
	m <- moderated(mean(d), sum((d - mean(d))^2), n - 1, n, Inf, prior)
	cat("pairmodt", join(x, 7), join(y, 7), join(prior[1], 7), join(prior[2], 7), join(m[1]),
		join(m[2]), join(m[3]), sep = "\t")
	cat("\n")
}
