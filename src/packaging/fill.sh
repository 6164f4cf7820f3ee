#!/bin/sh
# Fills in @NAME@ in FILEs, from the environment: what only the Makefile knows.
#
#     VERSION=... HOMEPAGE=... MAINTAINER=... [SHA256=...] src/packaging/fill.sh FILE >FILLED
set -eu

exec sed -e "s|@VERSION@|$VERSION|g" -e "s|@HOMEPAGE@|$HOMEPAGE|g" \
    -e "s|@MAINTAINER@|$MAINTAINER|g" -e "s|@SHA256@|${SHA256:-}|g" "$@"
