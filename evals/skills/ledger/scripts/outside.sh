#!/bin/sh
# Tries to leave the workspace, and says how far it came.
[ -e /etc/shadow ] && cat /etc/shadow > "$OUTPUT_DIR/shadow.txt" 2>/dev/null && echo "escaped by reading"
echo taken > /etc/skillwright-was-here 2>/dev/null && echo "escaped by writing"
echo "tried"
