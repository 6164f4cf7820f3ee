# Engines that no package of the system brings come from the registries of Java and Python, as pip and
# Maven are set up on this machine, and stay in $ENGINES. Where they cannot be had, the test is skipped.

# shellcheck shell=bash

# from_maven NAME GROUP:ARTIFACT:VERSION...: these and all they need at run time, to $ENGINES/NAME/*.jar.
from_maven() {
    local name=$1 wanted group artifact version home=$ENGINES/$1
    shift
    need java mvn
    [[ ! -e $home/complete || $(<"$home/complete") != "$*" ]] || return 0
    rm -rf "$home"
    mkdir -p "$home"
    {
        echo '<project><modelVersion>4.0.0</modelVersion><groupId>unseen</groupId>'
        echo "<artifactId>$name</artifactId><version>1</version><packaging>pom</packaging><dependencies>"
        for wanted; do
            IFS=: read -r group artifact version <<<"$wanted"
            echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>"
            echo "<version>$version</version></dependency>"
        done
        echo '</dependencies></project>'
    } >"$home/pom.xml"
    if ! mvn -q -B -f "$home/pom.xml" -Dmaven.repo.local="$ENGINES/maven" dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$home" >"$home/log" 2>&1; then
        skip "Maven cannot get $*: $(grep -m 1 ERROR "$home/log" | cut -c 1-150)"
    fi
    echo "$*" >"$home/complete"
}

# from_pip NAME PACKAGE==VERSION...: to $ENGINES/NAME, for PYTHONPATH.
from_pip() {
    local name=$1 home=$ENGINES/$1
    shift
    need python3
    [[ ! -e $home/complete || $(<"$home/complete") != "$*" ]] || return 0
    rm -rf "$home"
    if ! python3 -m pip install --quiet --disable-pip-version-check --target "$home" "$@" \
        >"$ENGINES/$name.log" 2>&1; then
        skip "pip cannot get $*: $(tail -n 1 "$ENGINES/$name.log" | cut -c 1-150)"
    fi
    echo "$*" >"$home/complete"
}
