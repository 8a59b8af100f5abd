# Rejection by the package abc, or where it is not installed by the same few steps in plain R: statistics in units of their median
# absolute deviation, Euclidean distance, the nearest accepted. Arguments: folder, rows, statistics, parameters, share, library.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]; rows <- as.numeric(arguments[2]); k <- as.numeric(arguments[3]); d <- as.numeric(arguments[4])
share <- as.numeric(arguments[5])
.libPaths(c(arguments[6], .libPaths()))
has <- suppressWarnings(suppressMessages(require(abc, quietly = TRUE)))
# Columns of doubles one behind the other: R reads nothing faster.
parameters <- matrix(readBin(file.path(folder, "parameters.bin"), "double", rows * d), nrow = rows)
statistics <- matrix(readBin(file.path(folder, "statistics.bin"), "double", rows * k), nrow = rows)
observed <- as.numeric(read.csv(file.path(folder, "observed.csv")))
if (has) {
  accepted <- abc(target = observed, param = parameters, sumstat = statistics, tol = share, method = "rejection")$region
} else {
  distance <- numeric(rows)
  for (j in seq_len(k)) distance <- distance + ((statistics[, j] - observed[j]) / mad(statistics[, j]))^2
  distance <- sqrt(distance)
  count <- ceiling(rows * share)
  accepted <- distance <= sort(distance)[count]
}
writeLines(as.character(which(accepted) - 1), file.path(folder, "accepted.txt"))
cat(if (has) paste("abc", packageVersion("abc")) else "plain R, since the package abc is not installed", "\n")
