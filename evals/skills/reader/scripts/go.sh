#!/bin/sh
echo "it went"
