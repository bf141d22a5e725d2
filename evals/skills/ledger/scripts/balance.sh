#!/bin/sh
# Adds the second column of a comma-separated file.
set -eu
sum=$(awk -F, 'NR > 1 { total += $2 } END { print total + 0 }' "$1")
printf 'balance: %s\n' "$sum" | tee "$OUTPUT_DIR/balance.txt"
