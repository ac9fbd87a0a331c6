#!/bin/sh
# What a region costs in instructions, which repeat where times do not, with calls at their cheapest. Says so
# where there is no valgrind.
# Usage: bench/instructions.sh PROGRAM
set -u
few=1024 many=3072 # more than the device sees until all is warm

if ! command -v valgrind >/dev/null; then
    echo "# no valgrind: instructions are not counted"
    exit 0
fi

count() { # PROGRAM VARIANT REGIONS
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | awk '/Collected/ { print $NF }'
}

of_region() { # PROGRAM VARIANT
    echo "$(count "$1" "$2" "$few") $(count "$1" "$2" "$many")" |
        awk -v regions=$((many - few)) '{ print ($2 - $1) / regions }'
}

for variant in library bare by_hand; do
    echo "ratio instructions_$variant $(of_region "$1" "$variant") target - ok"
done
