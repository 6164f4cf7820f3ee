#!/bin/sh
# Replaces each @NAME@ in FILE by a value that the Makefile passes in the environment.
#
#     VERSION=... HOMEPAGE=... MAINTAINER=... [SHA256=...] src/packaging/fill.sh FILE >FILLED
set -eu

exec sed -e "s|@VERSION@|$VERSION|g" -e "s|@HOMEPAGE@|$HOMEPAGE|g" \
    -e "s|@MAINTAINER@|$MAINTAINER|g" -e "s|@SHA256@|${SHA256:-}|g" "$@"
