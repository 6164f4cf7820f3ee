#!/bin/sh
# Writes PARENT/NAME as a tar archive to standard output, the same bytes each time: sorted, owned by
# root, with the modes of a umask of 022.
#
#     src/build/tar.sh PARENT NAME
#
# All files get the time of SOURCE_DATE_EPOCH, of the commit or, in an unpacked archive, of Makefile.
set -eu

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
    epoch=$SOURCE_DATE_EPOCH
elif [ -e .git ]; then
    epoch=$(git log -1 --format=%ct)
else
    epoch=$(stat -c %Y Makefile)
fi
exec tar -c -C "$1" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+r,go-w,a-s --mtime="@$epoch" "$2"
