#include "key/program.h"

#include "key/without.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A node has one item at most, and up to four other steps: two of a loop, two of a choice. */
enum { STEPS_MAX = 5 * PATTERN_NODES_MAX + 1, NO_STEP = UINT16_MAX };

struct writer_of_steps {
    const struct pattern *pattern;
    struct program *program;
    unsigned loops; /* idle ones around what comes next */
    bool is_open;   /* nothing leads to the next step but the one before */
};

/* --- steps --- */

static struct step *add_step(struct writer_of_steps *writer, struct step step)
{
    struct program *program = writer->program;
    assert(program->step != NULL && program->steps < STEPS_MAX);
    step.loops = (uint16_t)writer->loops;
    writer->is_open = true;
    program->step[program->steps] = step;
    return &program->step[program->steps++];
}

/* The next step, to which another one leads. */
static uint16_t label(struct writer_of_steps *writer)
{
    writer->is_open = false;
    return (uint16_t)writer->program->steps;
}

/* Adds the items of a set that is to be taken `least` to `most` times. */
static void write_items(struct writer_of_steps *writer, uint16_t set, unsigned least, unsigned most,
                        bool lazy)
{
    struct program *program = writer->program;
    const bool endless = most == PATTERN_ENDLESS;
    const unsigned first = program->items, n = !endless ? most : least > 0 ? least : 1;
    struct step *step = program->steps > 0 ? &program->step[program->steps - 1] : NULL;
    if (step == NULL || step->kind != STEP_ITEMS || !writer->is_open)
        step = add_step(writer, (struct step){.kind = STEP_ITEMS,
                                              .passes = true,
                                              .first = (uint16_t)first});
    for (unsigned i = 0; i < n; i++) {
        /* X{2,4} is XX(X(X)?)?: if one is left out, the others are. */
        const unsigned skip = endless ? first + i + 1 : first + n;
        program->item[program->items++] = (struct item){.optional = i >= least,
                                                        .repeats = endless && i + 1 == n,
                                                        .lazy = lazy,
                                                        .skip = (uint16_t)skip,
                                                        .step = (uint16_t)(program->steps - 1),
                                                        .set = set};
    }
    step->passes &= least == 0;
    step->second = (uint16_t)program->items;
}

static void write_node(struct writer_of_steps *writer, unsigned number);

static void write_choice(struct writer_of_steps *writer, const struct node *choice)
{
    struct program *program = writer->program;
    unsigned jump = 0, before; /* the last of those that lead to the end; never the first step */
    for (unsigned at = choice->child; at != 0; at = writer->pattern->node[at].next) {
        if (writer->pattern->node[at].next == 0) {
            write_node(writer, at);
            break;
        }
        const unsigned split = program->steps;
        add_step(writer, (struct step){.kind = STEP_SPLIT, .first = (uint16_t)(split + 1)});
        write_node(writer, at);
        add_step(writer, (struct step){.kind = STEP_JUMP, .first = (uint16_t)jump});
        jump = program->steps - 1;
        program->step[split].second = label(writer);
    }
    for (; jump != 0; jump = before) {
        before = program->step[jump].first;
        program->step[jump].first = label(writer);
    }
}

/* Adds a choice of the next step, or of one that is not known yet. */
static unsigned write_entry(struct writer_of_steps *writer)
{
    add_step(writer, (struct step){.kind = STEP_SPLIT});
    return writer->program->steps - 1;
}

static void lead_past(struct writer_of_steps *writer, unsigned split, bool lazy)
{
    struct step *step = &writer->program->step[split];
    const uint16_t next = (uint16_t)(split + 1), past = label(writer);
    step->first = lazy ? past : next;
    step->second = lazy ? next : past;
}

static void write_repeat(struct writer_of_steps *writer, const struct node *repeat)
{
    const struct node *child = &writer->pattern->node[repeat->child];
    const bool endless = repeat->most == PATTERN_ENDLESS;
    const unsigned n = endless ? repeat->least > 0 : repeat->least; /* those that must be */
    if (child->kind == NODE_SET) {
        write_items(writer, child->set, repeat->least, repeat->most, repeat->lazy);
        return;
    }
    for (unsigned i = n != 0 && endless ? 1 : 0; i < repeat->least; i++)
        write_node(writer, repeat->child);
    if (!endless) {
        /* Until it is known where they lead, each entry has the one before it. */
        unsigned last = NO_STEP;
        for (unsigned i = n; i < repeat->most; i++) {
            const unsigned entry = write_entry(writer);
            writer->program->step[entry].first = (uint16_t)last;
            last = entry;
            write_node(writer, repeat->child);
        }
        while (last != NO_STEP) {
            const unsigned entry = last;
            last = writer->program->step[entry].first;
            lead_past(writer, entry, repeat->lazy);
        }
        return;
    }
    const bool idle = node_is_idle_loop(writer->pattern, repeat);
    const uint16_t depth = idle ? (uint16_t)writer->loops : NOT_IDLE;
    const unsigned entry = n == 0 ? write_entry(writer) : 0;
    const uint16_t head = label(writer);
    writer->loops += idle;
    write_node(writer, repeat->child);
    add_step(writer,
             (struct step){.kind = STEP_LOOP, .lazy = repeat->lazy, .first = head, .idle = depth});
    writer->loops -= idle;
    if (n == 0)
        lead_past(writer, entry, repeat->lazy);
}

static void write_node(struct writer_of_steps *writer, unsigned number)
{
    const struct node *node = &writer->pattern->node[number];
    switch (node->kind) {
    case NODE_SET:
        write_items(writer, node->set, 1, 1, false);
        break;
    case NODE_PLACE:
        add_step(writer, (struct step){.kind = STEP_PLACE,
                                       .place = node->place,
                                       .at_end = node->at_end,
                                       .first = node->set});
        break;
    case NODE_CHAIN:
        for (unsigned at = node->child; at != 0; at = writer->pattern->node[at].next)
            write_node(writer, at);
        break;
    case NODE_CHOICE:
        write_choice(writer, node);
        break;
    case NODE_REPEAT:
        write_repeat(writer, node);
        break;
    default:
        break;
    }
}

/* --- what is known of bytes --- */

/* Classes of bytes that are in the same sets. */
static void find_classes(const struct pattern *pattern, struct program *program)
{
    program->classes = 1;
    for (unsigned set = 0; set < pattern->sets; set++) {
        int other[256]; /* for each class, the one of those in the set */
        bool left[256] = {false};
        memset(other, -1, sizeof other);
        for (unsigned byte = 0; byte < 256; byte++)
            left[program->class_of[byte]] |= !byte_set_has(&pattern->set[set], byte);
        for (unsigned byte = 0; byte < 256; byte++) {
            const unsigned class = program->class_of[byte];
            if (!byte_set_has(&pattern->set[set], byte) || !left[class])
                continue;
            if (other[class] < 0)
                other[class] = (int)program->classes++;
            program->class_of[byte] = (uint8_t)other[class];
        }
    }
}

/* Whether a place may tell two classes apart that stand on its right. */
static bool are_told_apart(const struct pattern *pattern, const struct program *program,
                           unsigned one, unsigned other)
{
    const unsigned none = program->classes;
    for (unsigned i = 1; i < pattern->nodes; i++) {
        const struct node *node = &pattern->node[i];
        if (node->kind != NODE_PLACE || node->place == PLACE_AFTER)
            continue;
        const uint8_t *within = program->within + (size_t)node->set * none;
        if ((one == none ? node->at_end : within[one]) !=
            (other == none ? node->at_end : within[other]))
            return true;
    }
    return false;
}

static void fill_tables(const struct pattern *pattern, struct program *program)
{
    const unsigned classes = program->classes;
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned set = 0; set < pattern->sets; set++)
            program->within[set * classes + program->class_of[byte]] =
                byte_set_has(&pattern->set[set], byte);
    for (unsigned i = 0; i < program->items; i++) {
        const struct item *item = &program->item[i];
        const uint64_t bit = UINT64_C(1) << i % 64;
        program->optional[i / 64] |= item->optional ? bit : 0;
        program->repeats[i / 64] |= item->repeats ? bit : 0;
        const struct step *step = &program->step[item->step];
        program->inner[i / 64] |= step->plain && i + 1U < step->second ? bit : 0;
        for (unsigned class = 0; class < classes; class ++)
            if (program->within[item->set * classes + class] != 0)
                program->taking[class * program->words + i / 64] |= bit;
    }
    for (unsigned class = 0; class <= classes; class ++) {
        unsigned same = 0;
        while (same < class &&
               (program->right[same] != same || are_told_apart(pattern, program, same, class)))
            same++;
        program->right[class] = (uint16_t)same;
    }
}

/* How seldom a byte is in what is usually given. */
static int rarity(unsigned byte)
{
    const char c = (char)byte;
    if (strchr("/:.", c) != NULL && c != '\0')
        return 0;
    if (ascii_is_letter(c))
        return strchr("etaoinsrhlcdpmu", ascii_lower(c)) != NULL ? 1 : 2;
    return ascii_is_digit(c) ? 2 : strchr("-=&?", c) != NULL ? 3 : 4;
}

/* Finds the rarest byte that each match has, if any is rare. */
static void find_must(const struct pattern *pattern, struct program *program)
{
    const struct node *root = &pattern->node[pattern->root];
    const bool chain = root->kind == NODE_CHAIN;
    int best = 0;
    unsigned before = 0; /* the most bytes that can be matched so far */
    program->must = -1;
    for (unsigned at = chain ? root->child : pattern->root; at != 0;
         at = chain ? pattern->node[at].next : 0) {
        const struct node *node = &pattern->node[at];
        unsigned n = 0, last = 0, most = node->kind == NODE_PLACE ? 0 : 1;
        if (node->kind == NODE_REPEAT && node->least > 0) {
            most = node->most == PATTERN_ENDLESS ? WITHOUT_MAX : node->most;
            node = &pattern->node[node->child];
        }
        for (unsigned byte = 0; byte < 256 && node->kind == NODE_SET; byte++)
            if (byte_set_has(&pattern->set[node->set], byte)) {
                n++;
                last = byte;
            }
        if (n == 1 && rarity(last) > best) {
            best = rarity(last);
            program->must = (int)last;
            program->before = before;
        }
        before += node->kind == NODE_SET || most == 0 ? most : WITHOUT_MAX;
    }
}

int program_make(const struct pattern *pattern, struct program *program)
{
    *program = (struct program){.steps = 0};
    find_must(pattern, program);
    struct writer_of_steps writer = {.pattern = pattern, .program = program};
    program->step = calloc(STEPS_MAX, sizeof *program->step);
    program->item = calloc(PATTERN_NODES_MAX, sizeof *program->item);
    if (program->step == NULL || program->item == NULL)
        return -1;
    write_node(&writer, pattern->root);
    add_step(&writer, (struct step){.kind = STEP_MATCH});
    for (unsigned i = 0; i < program->steps; i++) {
        struct step *step = &program->step[i];
        const unsigned items = step->kind == STEP_ITEMS ? step->second - step->first : 1;
        step->visits = program->visits;
        program->visits += step->loops + 1U;
        program->pending += (items + 1) * (step->loops + 1U);
        step->plain = step->kind == STEP_ITEMS;
        for (unsigned k = step->first; step->plain && k < step->second; k++)
            step->plain = !program->item[k].optional;
        program->looks_back |= step->kind == STEP_PLACE && step->place != PLACE_BEFORE;
    }
    find_classes(pattern, program);
    program->words = program->items / 64 + 1;
    program->optional = calloc(program->words, sizeof *program->optional);
    program->repeats = calloc(program->words, sizeof *program->repeats);
    program->inner = calloc(program->words, sizeof *program->inner);
    program->taking = calloc((size_t)program->classes * program->words, sizeof *program->taking);
    program->within = calloc((size_t)program->classes * pattern->sets + 1, 1);
    if (program->optional == NULL || program->repeats == NULL || program->inner == NULL ||
        program->taking == NULL || program->within == NULL)
        return -1;
    fill_tables(pattern, program);
    /* X, X?, X+ and X*: nothing, or an item. */
    program->is_one_set = program->items == 1 && program->steps == 2;
    for (unsigned byte = 0; byte < 256 && program->is_one_set; byte++)
        program->keeps[byte] = !byte_set_has(&pattern->set[program->item[0].set], byte);
    return 0;
}

void program_free(struct program *program)
{
    free(program->step);
    free(program->item);
    free(program->optional);
    free(program->repeats);
    free(program->inner);
    free(program->taking);
    free(program->within);
}
