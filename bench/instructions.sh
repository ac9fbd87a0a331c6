#!/bin/sh
# The same comparisons in instructions, which repeat where times do not. Says so where there is no valgrind.
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

library=$(of_region "$1" library)
bare=$(of_region "$1" bare)
by_hand=$(of_region "$1" by_hand)
echo "$library $bare $by_hand" | awk '{
    printf "ratio over_bare_instructions %.4g target 1.1 %s\n", $1 / $2, ($1 / $2 <= 1.1 ? "ok" : "short")
    printf "ratio by_hand_instructions %.4g target 5 %s\n", $3 / $1, ($3 / $1 >= 5 ? "ok" : "short")
    printf "# library %.0f instructions a region, bare calls %.0f, by hand %.0f\n", $1, $2, $3
}'
