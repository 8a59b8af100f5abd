#!/bin/sh
# A culture grows until the dish is full, and is counted eight times with an error of about a tenth.
# Arguments: rate, capacity, seed. Prints the names of the statistics, then their values.
exec awk -v rate="$1" -v capacity="$2" -v seed="$3" 'BEGIN {
  srand(seed)
  for (time = 2; time <= 16; time += 2) {
    grown = capacity / (1 + (capacity / 5 - 1) * exp(-rate * time))
    noise = sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand())
    names = names (names ? "," : "") "cells@" time
    values = values (values ? "," : "") sprintf("%.17g", grown * exp(0.1 * noise))
  }
  print names
  print values
}'
