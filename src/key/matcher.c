#include "key/matcher.h"

#include "core/hash.h"
#include "key/without.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATES_MAX = WITHOUT_MAX + 4096,
    SLOTS = 1 << 18, /* of states, at most a third of them in use */
    CHOICES = 1024,  /* that are remembered */
    DEAD = 0,
    ALIVE = 1,
    ALIVE_BY_BYTE = 2
};

/* Where a state leads to with a byte on the left. All but these bits: the next state. */
enum { UNKNOWN = 1, BEGINS = 2, IDLE = 4, FLAGS = 7 };

/* What can be said of a place in a value. Its number is the offset of `next` in the arena. */
struct state {
    uint16_t right;        /* the class of the byte on its right */
    const uint64_t *alive; /* items that can take that byte and come to the end of a match */
    uint32_t *next;        /* for each class of the byte on the left, and for the beginning */
};

/* What comes after an item, or at the beginning of a match. */
struct choice {
    uint64_t key; /* 0: none */
    int item;
};

/* Steps or an item that are left for later. */
struct pending {
    uint16_t step, item;
    uint16_t open; /* idle loops around it whose iterations have taken a byte */
    bool is_item;
};

struct matcher {
    struct program program;
    size_t stride;     /* bytes of a state */
    char *arena;       /* states: `alive`, `right`, `next` */
    size_t used;       /* bytes */
    uint32_t *slots;   /* numbers of states by their hashes; 0: none */
    uint32_t first;    /* the state at the end of a value */
    uint32_t *states;  /* of each place of the value */
    uint32_t *begins;  /* places where matches begin, the last one first */
    uint64_t *after;   /* items behind which a match can end, or go on */
    uint8_t *reach;    /* what was found of each step */
    uint32_t *visited; /* when a step was taken the last time, by its open loops */
    uint32_t visit;
    struct pending *pending;
    struct choice *choices;
};

/* --- one place --- */

/* Whether the bytes beside a place are as a step wants. */
static bool may_stand(const struct program *program, const struct step *step, unsigned left,
                      unsigned right)
{
    const unsigned none = program->classes;
    const uint8_t *within = program->within + (size_t)step->first * none;
    const bool before = right == none ? step->at_end : within[right];
    const bool after = left == none ? step->at_end : within[left];
    return step->place == PLACE_AFTER    ? after
           : step->place == PLACE_BEFORE ? before
                                         : (before != after) == (step->place == PLACE_BORDER);
}

/* Finds what a run of items can reach, if `behind` is what is reached behind it, and behind which
 * of its items a match can end or go on. */
static unsigned reach_items(struct matcher *matcher, const struct step *step, const uint64_t *alive,
                            unsigned behind)
{
    const struct program *program = &matcher->program;
    const unsigned first = step->first, last = step->second - 1U;
    if (step->plain) {
        matcher->after[last / 64] |= (uint64_t)(behind & ALIVE) << last % 64;
        return (unsigned)(alive[first / 64] >> first % 64 & 1) * (ALIVE | ALIVE_BY_BYTE);
    }
    uint64_t carry = behind & ALIVE, any = 0;
    for (unsigned word = last / 64 + 1; word-- > first / 64;) {
        const unsigned low = word == first / 64 ? first % 64 : 0;
        const unsigned high = word == last / 64 ? last % 64 : 63;
        const uint64_t mask = ~UINT64_C(0) >> (63 - high) & ~UINT64_C(0) << low;
        const uint64_t mine = alive[word] & mask;
        uint64_t passes = program->optional[word] & mask;
        uint64_t reached = mine | (passes & carry << high);
        for (unsigned shift = 1; passes != 0 && shift < 64; shift *= 2) {
            reached |= passes & reached >> shift;
            passes &= passes >> shift;
        }
        matcher->after[word] |= (reached >> 1 | carry << high) & mask;
        carry = reached >> low & 1;
        any |= mine;
    }
    if (!step->passes)
        return (unsigned)carry * (ALIVE | ALIVE_BY_BYTE);
    return behind | (any != 0) * (ALIVE | ALIVE_BY_BYTE);
}

/* Finds behind which items a match can end, or go on, at a place: matcher->after. Returns whether
 * one can begin there. */
static bool reach(struct matcher *matcher, const uint64_t *alive, unsigned left, unsigned right)
{
    const struct program *program = &matcher->program;
    uint8_t *reach = matcher->reach;
    /* A loop leads back, to what is not known yet. But only what takes a byte is missing then, as
     * going on without one is not another way. If it is found in a first pass, a second one knows
     * it. */
    bool again = false;
    for (unsigned pass = 0; pass == 0 || (pass == 1 && again); pass++) {
        /* Plain items, but for the last ones, go on with the next. */
        uint64_t above = 0;
        for (unsigned i = program->words; i-- > 0; above = alive[i])
            matcher->after[i] = (program->repeats[i] & alive[i]) |
                                (program->inner[i] & (alive[i] >> 1 | above << 63));
        /* Not a switch: its jump is predicted badly, and then takes twice the time. */
        unsigned found = ALIVE; /* at the step behind, then at this one */
        for (unsigned i = program->steps; i-- > 0; reach[i] = (uint8_t)found) {
            const struct step *step = &program->step[i];
            if (step->kind == STEP_ITEMS) {
                found = reach_items(matcher, step, alive, found);
            } else if (step->kind == STEP_SPLIT) {
                found = reach[step->first] | reach[step->second];
            } else if (step->kind == STEP_JUMP) {
                found = reach[step->first];
            } else if (step->kind == STEP_PLACE) {
                found = may_stand(program, step, left, right) ? found : DEAD;
            } else if (step->kind == STEP_LOOP) {
                found |= pass == 1 ? reach[step->first] : DEAD;
                again = true;
            }
        }
    }
    return (reach[0] & ALIVE_BY_BYTE) != 0;
}

/* --- states --- */

static struct state state_at(const struct matcher *matcher, uint32_t number)
{
    char *next = matcher->arena + number;
    uint16_t right;
    memcpy(&right, next - sizeof(uint64_t), sizeof right);
    const size_t words = matcher->program.words;
    const uint64_t *alive = (const uint64_t *)(const void *)(next - (words + 1) * sizeof *alive);
    return (struct state){right, alive, (uint32_t *)(void *)next};
}

/* Finds the state of a place, or makes it. */
static uint32_t find_state(struct matcher *matcher, const uint64_t *alive, uint16_t right)
{
    const struct program *program = &matcher->program;
    const size_t bytes = program->words * sizeof *alive;
    size_t slot = hash_key(alive, bytes, hasher_xxh3(right)).lo % SLOTS;
    for (; matcher->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        const struct state state = state_at(matcher, matcher->slots[slot]);
        if (state.right == right && memcmp(state.alive, alive, bytes) == 0)
            return matcher->slots[slot];
    }
    char *at = matcher->arena + matcher->used;
    memcpy(at, alive, bytes);
    memcpy(at + bytes, &right, sizeof right);
    const uint32_t number = (uint32_t)(matcher->used + bytes + sizeof(uint64_t));
    uint32_t *next = (uint32_t *)(void *)(matcher->arena + number);
    for (unsigned i = 0; i <= program->classes; i++)
        next[i] = UNKNOWN;
    matcher->used += matcher->stride;
    matcher->slots[slot] = number;
    return number;
}

/* Finds out where a state leads to with a byte of this class, or the beginning, on the left. */
static uint32_t find_next(struct matcher *matcher, uint32_t number, unsigned class)
{
    const struct program *program = &matcher->program;
    const struct state state = state_at(matcher, number);
    uint64_t alive[PATTERN_NODES_MAX / 64 + 1];
    const bool begins = reach(matcher, state.alive, class, state.right);
    uint32_t next = begins ? BEGINS : 0;
    if (class < program->classes) {
        const uint64_t *taking = program->taking + (size_t) class * program->words;
        for (unsigned i = 0; i < program->words; i++)
            alive[i] = matcher->after[i] & taking[i];
        next |= find_state(matcher, alive, program->right[class]);
    }
    state.next[class] = next;
    /* A state that leads to itself, whatever is on the left, has nothing to find any more. */
    unsigned i = 0;
    while (i < program->classes && state.next[i] == number)
        i++;
    if (i == program->classes && state.next[i] == 0)
        for (i = 0; i < program->classes; i++)
            state.next[i] |= IDLE;
    return next;
}

/* Makes the first state: nothing can take a byte. Precondition: there are none. */
static void begin_states(struct matcher *matcher)
{
    uint64_t none[PATTERN_NODES_MAX / 64 + 1] = {0};
    matcher->first = find_state(matcher, none, (uint16_t)matcher->program.classes);
}

static void forget_states(struct matcher *matcher)
{
    matcher->used = 0;
    memset(matcher->slots, 0, SLOTS * sizeof *matcher->slots);
    memset(matcher->choices, 0, CHOICES * sizeof *matcher->choices);
    begin_states(matcher);
}

/* Finds the states of the places of a value from `from` on, before which no match begins. Returns
 * how many begin there. */
static size_t find_begins(struct matcher *matcher, struct span value, size_t from)
{
    const uint8_t *class_of = matcher->program.class_of;
    const char *arena = matcher->arena;
    uint32_t *const states = matcher->states;
    size_t n = 0;
    if (matcher->used + (value.length + 2) * matcher->stride > STATES_MAX * matcher->stride)
        forget_states(matcher);
    uint32_t number = matcher->first;
    states[value.length] = number;
    for (size_t place = value.length;; place--) {
        const unsigned class = place > 0 ? class_of[(uint8_t)value.bytes[place - 1]]
                                         : matcher->program.classes;
        uint32_t next = ((const uint32_t *)(const void *)(arena + number))[class];
        if ((next & FLAGS) != 0) {
            if ((next & UNKNOWN) != 0)
                next = find_next(matcher, number, class);
            if ((next & BEGINS) != 0)
                matcher->begins[n++] = (uint32_t)place;
            if ((next & IDLE) != 0)
                break;
        }
        if (place == from)
            break;
        number = next & ~(uint32_t)FLAGS;
        states[place - 1] = number;
    }
    return n;
}

/* --- one match --- */

enum { BEGIN = UINT16_MAX, END = -1, GOES_ON = -2, FAILS = -3 };

/* Taking steps at a place, without a byte. */
struct walk {
    struct matcher *matcher;
    const struct state *state; /* what stands on the right */
    unsigned left;             /* the class of the byte on the left */
    bool begins;               /* no byte was taken yet */
    struct pending now;        /* the next step */
    size_t n;                  /* choices that are left for later */
};

static void leave_for_later(struct walk *walk, struct pending pending)
{
    walk->matcher->pending[walk->n++] = pending;
}

static bool takes(const struct state *state, unsigned item)
{
    return (state->alive[item / 64] >> item % 64 & 1) != 0;
}

/* Tries items. Returns the one that takes the byte; GOES_ON if all were left out. */
static int take_items(struct walk *walk, unsigned item, unsigned end)
{
    while (item < end) {
        const struct item *it = &walk->matcher->program.item[item];
        const bool alive = takes(walk->state, item);
        if (alive && !(it->optional && it->lazy))
            return (int)item;
        if (alive)
            leave_for_later(walk, (struct pending){.item = (uint16_t)item, .is_item = true});
        if (!it->optional)
            return FAILS;
        item = it->skip;
    }
    walk->now.step++;
    return GOES_ON;
}

/* From behind an item on, which has taken a byte. */
static int go_on_behind(struct walk *walk, unsigned item)
{
    const struct item *it = &walk->matcher->program.item[item];
    const struct step *step = &walk->matcher->program.step[it->step];
    walk->now = (struct pending){.step = it->step, .open = step->loops};
    if (it->repeats && takes(walk->state, item)) {
        if (!it->lazy)
            return (int)item;
        leave_for_later(walk, (struct pending){.item = (uint16_t)item, .is_item = true});
    }
    return take_items(walk, item + 1, step->second);
}

/* Takes the next step, unless it was taken before, in as many loops. Returns an item that takes the
 * byte, END, GOES_ON or FAILS. */
static int take_step(struct walk *walk)
{
    struct matcher *matcher = walk->matcher;
    struct pending *now = &walk->now;
    const struct step *step = &matcher->program.step[now->step];
    uint32_t *visited = &matcher->visited[step->visits + now->open];
    bool again;
    if (*visited == matcher->visit)
        return FAILS;
    *visited = matcher->visit;
    switch (step->kind) {
    case STEP_ITEMS:
        return take_items(walk, step->first, step->second);
    case STEP_SPLIT:
        leave_for_later(walk, (struct pending){.step = step->second, .open = now->open});
        now->step = step->first;
        break;
    case STEP_JUMP:
        now->step = step->first;
        break;
    case STEP_PLACE:
        now->step++;
        return may_stand(&matcher->program, step, walk->left, walk->state->right) ? GOES_ON : FAILS;
    case STEP_LOOP:
        again = step->idle == NOT_IDLE || now->open > step->idle;
        now->step++;
        if (now->open > step->idle)
            now->open = step->idle;
        if (!again)
            break;
        leave_for_later(walk, (struct pending){.step = step->lazy ? step->first : now->step,
                                               .open = now->open});
        now->step = step->lazy ? now->step : step->first;
        break;
    default: /* STEP_MATCH; nothing at all is no match */
        return walk->begins ? FAILS : END;
    }
    return GOES_ON;
}

/* Takes steps at a place: from behind an item on or, with BEGIN, from the first one on. Returns the
 * item that takes the next byte, or END. */
static int choose(struct matcher *matcher, unsigned from, const struct state *state, unsigned left)
{
    struct walk walk = {matcher, state, left, from == BEGIN, {.step = 0}, 0};
    if (++matcher->visit == 0) {
        memset(matcher->visited, 0, matcher->program.visits * sizeof *matcher->visited);
        matcher->visit = 1;
    }
    int found = from == BEGIN ? GOES_ON : go_on_behind(&walk, from);
    while (found < END) {
        if (found == FAILS) {
            /* It is known that some way leads on. */
            assert(walk.n > 0);
            walk.now = matcher->pending[--walk.n];
            if (walk.now.is_item)
                return walk.now.item;
        }
        found = take_step(&walk);
    }
    return found;
}

/* Finds the end of the match that begins at a place. */
static size_t find_match_end(struct matcher *matcher, struct span value, size_t place)
{
    const struct program *program = &matcher->program;
    unsigned item = BEGIN;
    for (;; place++) {
        const uint32_t number = matcher->states[place];
        const unsigned left = program->looks_back && place > 0
                                  ? program->class_of[(uint8_t)value.bytes[place - 1]]
                                  : program->classes;
        const uint64_t key = (uint64_t)number << 26 | (uint64_t)item << 9 | left |
                             UINT64_C(1) << 63;
        struct choice *choice = &matcher->choices[key * UINT64_C(0x9e3779b97f4a7c15) >> 54];
        if (choice->key != key) {
            const struct state state = state_at(matcher, number);
            *choice = (struct choice){key, choose(matcher, item, &state, left)};
        }
        if (choice->item == END)
            return place;
        item = (unsigned)choice->item;
    }
}

/* --- all of it --- */

/* Leaves out each byte of a set. */
static struct span leave_out_bytes(const uint8_t *keeps, struct span value, char *buffer)
{
    const char *at = value.bytes, *end = at + value.length;
    while (at < end && keeps[(uint8_t)*at])
        at++;
    if (at == end)
        return value;
    memmove(buffer, value.bytes, (size_t)(at - value.bytes));
    char *out = buffer + (at - value.bytes);
    for (; at < end; at++) {
        *out = *at;
        out += keeps[(uint8_t)*at];
    }
    return span_between(buffer, out);
}

struct span matcher_leave_out(struct matcher *matcher, struct span value, char *buffer)
{
    const int must = matcher->program.must;
    size_t from = 0;
    if (must >= 0) {
        const char *at = memchr(value.bytes, must, value.length);
        if (at == NULL)
            return value;
        const size_t before = (size_t)(at - value.bytes);
        from = before > matcher->program.before ? before - matcher->program.before : 0;
    }
    if (matcher->program.is_one_set)
        return leave_out_bytes(matcher->program.keeps, value, buffer);
    size_t n = find_begins(matcher, value, from);
    size_t kept = 0; /* from here on it is not copied yet */
    char *out = buffer;
    if (n == 0)
        return value;
    while (n-- > 0) {
        const size_t place = matcher->begins[n];
        if (place < kept)
            continue;
        memmove(out, value.bytes + kept, place - kept);
        out += place - kept;
        kept = find_match_end(matcher, value, place);
    }
    memmove(out, value.bytes + kept, value.length - kept);
    return span_between(buffer, out + (value.length - kept));
}

struct matcher *matcher_new(const struct pattern *pattern)
{
    struct matcher *matcher = calloc(1, sizeof *matcher);
    if (matcher == NULL)
        return NULL;
    struct program *program = &matcher->program;
    if (program_make(pattern, program) != 0) {
        matcher_free(matcher);
        return NULL;
    }
    const size_t next = (program->classes + 2) / 2 * 2 * sizeof(uint32_t);
    matcher->stride = (program->words + 1) * sizeof(uint64_t) + next;
    matcher->arena = malloc(STATES_MAX * matcher->stride);
    matcher->slots = calloc(SLOTS, sizeof *matcher->slots);
    matcher->states = malloc((WITHOUT_MAX + 1) * sizeof *matcher->states);
    matcher->begins = malloc((WITHOUT_MAX + 1) * sizeof *matcher->begins);
    matcher->after = malloc(program->words * sizeof *matcher->after);
    matcher->reach = malloc(program->steps);
    matcher->visited = calloc(program->visits, sizeof *matcher->visited);
    matcher->pending = malloc(program->pending * sizeof *matcher->pending);
    matcher->choices = calloc(CHOICES, sizeof *matcher->choices);
    if (matcher->arena == NULL || matcher->slots == NULL || matcher->states == NULL ||
        matcher->begins == NULL || matcher->after == NULL || matcher->reach == NULL ||
        matcher->visited == NULL || matcher->pending == NULL || matcher->choices == NULL) {
        matcher_free(matcher);
        return NULL;
    }
    /* Memory from calloc has no pages yet: a run of one line would notice if it was cleared. */
    begin_states(matcher);
    return matcher;
}

void matcher_free(struct matcher *matcher)
{
    if (matcher == NULL)
        return;
    program_free(&matcher->program);
    free(matcher->arena);
    free(matcher->slots);
    free(matcher->states);
    free(matcher->begins);
    free(matcher->after);
    free(matcher->reach);
    free(matcher->visited);
    free(matcher->pending);
    free(matcher->choices);
    free(matcher);
}
