#!/bin/sh
# Compiles simulate.c where that has not been done since it was changed, and becomes the program.
# Several may start at once: each compiles into a file of its own, and the last to be renamed stays.
set -e
if [ ! -e simulate ] || [ simulate -ot simulate.c ]; then
  cc -O2 -o "simulate.$$" simulate.c -lm
  mv "simulate.$$" simulate
fi
exec ./simulate
