# A culture grows until the dish is full, and is counted eight times with an error of about a tenth.

source("counterpoise.R")

times <- c(2, 4, 6, 8, 10, 12, 14, 16)

simulate <- function(theta, seed) {
  grown <- theta$capacity / (1 + (theta$capacity / 5 - 1) * exp(-theta$rate * times))
  grown * exp(rnorm(length(times), 0, 0.1))
}

serve(simulate, paste0("cells@", times))
