#!/bin/sh
# Passes where a file has exactly one line.
[ "$(wc -l < "$1")" -eq 1 ] || { echo "$1 has not one line"; exit 1; }
