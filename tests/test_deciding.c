/* What becomes of a probe and of a recording: zt__decide and zt__decide_recording by themselves, over the whole of
   their tables. */
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_STATIC
#include "fixture.h"

typedef struct facts {
    zt__seen seen;
    zt__owed owed;
    zt__data data;
} facts;

static void for_all(void (*check)(facts of, zt__decision decision)) {
    for (int seen = 0; seen < ZT__SEEN_COUNT; seen++)
        for (int owed = 0; owed < ZT__OWED_COUNT; owed++)
            for (int data = 0; data < ZT__DATA_COUNT; data++) {
                facts of = {(zt__seen)seen, (zt__owed)owed, (zt__data)data};
                check(of, zt__decide(of.seen, of.owed, of.data));
            }
}

static void is_counted_when_it_is_settled(facts of, zt__decision decision) {
    if (of.owed == ZT__OWED_SAMPLE)
        assert_int_equal(decision.outcome == ZT__NO_SAMPLE, decision.next == ZT__NEXT_WAIT);
}

/* The identity begun = collected + lost + dropped + in flight depends on this. */
static void test_a_sample_is_counted_once(void **state) {
    (void)state;
    for_all(is_counted_when_it_is_settled);
}

static void is_counted_only_if_owed(facts of, zt__decision decision) {
    int has_run = of.seen == ZT__SEEN_ENDED && of.owed != ZT__OWED_NOTHING;
    if (of.owed != ZT__OWED_SAMPLE && !has_run)
        assert_int_equal(decision.outcome, ZT__NO_SAMPLE);
}

/* Nothing begins to count before it has run. */
static void test_nothing_else_is_counted(void **state) {
    (void)state;
    for_all(is_counted_only_if_owed);
}

static void is_collected_only_if_read(facts of, zt__decision decision) {
    int is_measured = of.owed == ZT__OWED_SAMPLE || of.owed == ZT__OWED_UNCOUNTED;
    assert_int_equal(decision.outcome == ZT__READ,
                     of.seen == ZT__SEEN_ENDED && is_measured && of.data == ZT__DATA_READ);
}

static void test_only_what_was_read_is_collected(void **state) {
    (void)state;
    for_all(is_collected_only_if_read);
}

static void is_reset_only_at_the_end(facts of, zt__decision decision) {
    if (decision.next == ZT__NEXT_RESET)
        assert_true(of.seen == ZT__SEEN_ENDED || of.seen == ZT__SEEN_NO_EVENT);
    if (of.seen == ZT__SEEN_PENDING || of.seen == ZT__SEEN_FAILING)
        assert_int_equal(decision.next, ZT__NEXT_WAIT);
}

/* Nothing is reset while the device may run it. */
static void test_what_may_run_is_left_alone(void **state) {
    (void)state;
    for_all(is_reset_only_at_the_end);
}

static void is_retired_only_if_unreadable(facts of, zt__decision decision) {
    int is_unreadable =
        of.seen == ZT__SEEN_DEVICE_LOST || (of.seen == ZT__SEEN_FAILED && of.owed == ZT__OWED_SAMPLE);
    assert_int_equal(decision.next == ZT__NEXT_RETIRE, is_unreadable);
}

static void test_what_cannot_be_read_is_used_never_again(void **state) {
    (void)state;
    for_all(is_retired_only_if_unreadable);
}

/* Why a sample is missing, by what was seen and read. */
static void test_each_cause(void **state) {
    static const struct {
        facts of;
        zt_cause cause;
    } rows[] = {
        {{ZT__SEEN_NEVER, ZT__OWED_SAMPLE, ZT__DATA_READ}, ZT_DROPPED_NEVER_RAN},
        {{ZT__SEEN_ENDED, ZT__OWED_SAMPLE, ZT__DATA_LATE}, ZT_CAUSE_COUNT},
        {{ZT__SEEN_ENDED, ZT__OWED_SAMPLE, ZT__DATA_MISSING}, ZT_LOST_NEVER_DELIVERED},
        {{ZT__SEEN_ENDED, ZT__OWED_SAMPLE, ZT__DATA_REFUSED}, ZT_LOST_READ_FAILED},
        {{ZT__SEEN_ENDED, ZT__OWED_SAMPLE, ZT__DATA_OTHER_PASS}, ZT_LOST_OTHER_PASS},
        {{ZT__SEEN_ENDED, ZT__OWED_UNCOUNTED, ZT__DATA_OTHER_PASS}, ZT_LOST_OTHER_PASS},
        {{ZT__SEEN_ENDED, ZT__OWED_AGAIN, ZT__DATA_READ}, ZT_LOST_OVERWRITTEN},
        {{ZT__SEEN_FAILED, ZT__OWED_SAMPLE, ZT__DATA_READ}, ZT_LOST_READ_FAILED},
        {{ZT__SEEN_NO_EVENT, ZT__OWED_SAMPLE, ZT__DATA_READ}, ZT_LOST_EVENT},
        {{ZT__SEEN_DEVICE_LOST, ZT__OWED_SAMPLE, ZT__DATA_READ}, ZT_LOST_DEVICE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(zt__decide(rows[i].of.seen, rows[i].of.owed, rows[i].of.data).cause, rows[i].cause);
}

/* ---- recordings ------------------------------------------------------------------------------------------ */

static void for_all_visits(void (*check)(const zt__visited *of, zt__after_visit after)) {
    for (int asked = 0; asked < ZT__ASKED_COUNT; asked++)
        for (unsigned bits = 0; bits < 1u << 6; bits++) {
            zt__visited of = {(zt__asked)asked, bits & 1,      bits >> 1 & 1, bits >> 2 & 1,
                              bits >> 3 & 1,    bits >> 4 & 1, bits >> 5 & 1};
            check(&of, zt__decide_recording(&of));
        }
}

/* Probes are free when nothing of them is left to be read, and their list lets go of them. */
static void is_free_only_if_read(const zt__visited *of, zt__after_visit after) {
    if (after == ZT__RECORDING_IS_FREE)
        assert_true(of->is_read && (of->is_closed || of->was_reset) && of->asked == ZT__ASKED);
    if (after == ZT__RECORDING_IS_FREE && of->is_closed)
        assert_false(of->is_look_due);
}

static void test_when_probes_are_free(void **state) {
    (void)state;
    for_all_visits(is_free_only_if_read);
}

static void is_ready_only_if_read(const zt__visited *of, zt__after_visit after) {
    assert_int_equal(after == ZT__RECORDING_IS_READ, of->is_read && of->has_ended && !of->is_closed &&
                                                         !of->was_reset && of->asked == ZT__ASKED);
}

static void test_when_a_recording_is_ready(void **state) {
    (void)state;
    for_all_visits(is_ready_only_if_read);
}

/* Samples are lost only after the driver was asked for long, and what is closed is never used again then. */
static void is_given_up_only_after_long(const zt__visited *of, zt__after_visit after) {
    assert_int_equal(after == ZT__RECORDING_IS_RETIRED, of->asked == ZT__ASKED_FOR_LONG && of->is_closed);
    assert_int_equal(after == ZT__RECORDING_IS_LOST,
                     of->asked == ZT__ASKED_FOR_LONG && !of->is_closed && of->owes);
}

static void test_when_a_recording_is_given_up(void **state) {
    (void)state;
    for_all_visits(is_given_up_only_after_long);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_is_counted_once),
        cmocka_unit_test(test_nothing_else_is_counted),
        cmocka_unit_test(test_only_what_was_read_is_collected),
        cmocka_unit_test(test_what_may_run_is_left_alone),
        cmocka_unit_test(test_what_cannot_be_read_is_used_never_again),
        cmocka_unit_test(test_each_cause),
        cmocka_unit_test(test_when_probes_are_free),
        cmocka_unit_test(test_when_a_recording_is_ready),
        cmocka_unit_test(test_when_a_recording_is_given_up),
    };
    return cmocka_run_group_tests_name("tests", tests, NULL, NULL);
}
