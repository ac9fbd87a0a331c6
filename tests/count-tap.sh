#!/bin/sh
# From the TAP output of a test program on standard input: how many tests passed, failed, and were skipped. What
# was planned and did not happen has failed. Usage: tests/count-tap.sh EXIT-STATUS
exec awk -v status="$1" '
    /^1\.\.[0-9]+$/                 { planned += substr($0, 4) }
    /ok [0-9]+.*# SKIP/             { skipped++; next }
    /not ok [0-9]+/                 { next }
    /ok [0-9]+ - /                  { passed++ }
    END {
        failed = planned - passed - skipped
        if (failed < 0 || (failed == 0 && (planned == 0 || status != 0)))
            failed = 1
        print passed + 0, failed, skipped + 0
    }'
