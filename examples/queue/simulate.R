# A queue with one server: customers come at random, and what is seen is when they leave.

source("counterpoise.R")

customers <- 50
shares <- c(0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)

simulate <- function(theta, seed) {
  arrival <- cumsum(rexp(customers, theta$rate))
  service <- runif(customers, theta$shortest, theta$shortest + theta$spread)
  # Somebody leaves when they have been served, which begins when they have come and the one before has left.
  # In terms of sums that is a running maximum, which R does at once where a loop would take fifty steps.
  done <- cumsum(service)
  left <- done + cummax(arrival - (done - service))
  quantile(diff(c(0, left)), shares, names = FALSE)
}

serve(simulate, paste0("gap", 100 * shares))
