/* keyer - the steps by which a line becomes its key; see recipe.h. */
#include "key/keyer.h"

#include "core/bytes.h"
#include "key/csv.h"
#include "key/endpoint.h"
#include "key/fields.h"
#include "key/fold.h"
#include "key/json.h"
#include "key/url.h"
#include "key/without.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes that --by writes. */
enum { URL_BUFFER = URL_WRITTEN_MAX + 32 };

/* Buffers for --by. */
struct url_buffers {
    char url[URL_ROOM]; /* or the host */
    char endpoint[URL_BUFFER];
    struct span names[URL_MAX / 2];
};

/* For --jsonl: what is looked for, and the lines at hand. */
struct json_buffers {
    struct json_items items;
    struct json_lines lines;
};

struct keyer {
    struct recipe recipe;
    const struct kernel *kernel;
    struct url_buffers *buffers; /* NULL without --by */
    struct json_buffers *json;   /* NULL without --jsonl */
    struct without *without;     /* NULL without patterns */
    struct columns columns;      /* of the input */
    size_t size, room;           /* the longest line that was asked for; bytes at `text` */
    char *text;                  /* joined fields, or text in lower case */
};

/* Only buffers that the recipe needs are allocated: a run of one line would notice. */
struct keyer *keyer_new(const struct recipe *recipe)
{
    struct keyer *keyer = calloc(1, sizeof *keyer);
    if (keyer == NULL)
        return NULL;
    keyer->recipe = *recipe;
    keyer->kernel = kernel_best();
    if (recipe->profile != PROFILE_LINE)
        keyer->buffers = malloc(sizeof *keyer->buffers);
    if (recipe->syntax == SYNTAX_JSONL)
        keyer->json = malloc(sizeof *keyer->json);
    if (recipe->patterns[0] != '\0')
        keyer->without = without_new(recipe);
    if (keyer->json != NULL) {
        json_split_items(recipe, &keyer->json->items);
        keyer->json->lines.members = 0;
        if (recipe->profile == PROFILE_LINE)
            keyer->json->items.without = keyer->without;
    }
    if ((recipe->profile != PROFILE_LINE && keyer->buffers == NULL) ||
        (recipe->syntax == SYNTAX_JSONL && keyer->json == NULL) ||
        (recipe->patterns[0] != '\0' && keyer->without == NULL) ||
        keyer_reserve(keyer, URL_BUFFER) != 0) {
        keyer_free(keyer);
        return NULL;
    }
    return keyer;
}

void keyer_free(struct keyer *keyer)
{
    if (keyer == NULL)
        return;
    free(keyer->buffers);
    free(keyer->json);
    without_free(keyer->without);
    columns_free(&keyer->columns);
    free(keyer->text);
    free(keyer);
}

struct keyer *keyer_copy(const struct keyer *keyer)
{
    struct keyer *copy = keyer_new(&keyer->recipe);
    if (copy == NULL)
        return NULL;
    if (columns_copy(&copy->columns, &keyer->columns) == 0 && keyer_reserve(copy, copy->size) == 0)
        return copy;
    keyer_free(copy);
    return NULL;
}

int keyer_reserve(struct keyer *keyer, size_t length)
{
    const struct recipe *recipe = &keyer->recipe;
    const bool decodes = recipe->syntax != SYNTAX_FIELDS;
    if (length > keyer->size)
        keyer->size = length;
    /* Columns of names that are missing in a line have a separator in the key. */
    size_t room = (keyer->json != NULL ? json_room(&keyer->json->items, length)
                   : decodes           ? SPAN_DECODED(length)
                                       : length + FIELDS_SPARE) +
                  keyer->columns.n;
    if ((!decodes && !recipe_has_list(recipe) && !recipe->fold) || room <= keyer->room)
        return 0;
    char *text = malloc(room);
    if (text == NULL)
        return -1;
    free(keyer->text);
    keyer->text = text;
    keyer->room = room;
    return 0;
}

static bool make_url(struct keyer *keyer, struct span *text)
{
    struct url url;
    if (text->length > URL_MAX || !url_split(*text, keyer->buffers->url, &url))
        return false;
    *text = url_write(&url, keyer->buffers->url);
    return true;
}

/* Whether the key is made of several values, or of members, and not what --by makes of it: then
 * patterns have been at each of them before they were joined. */
static bool is_joined(const struct keyer *keyer)
{
    const struct recipe *recipe = &keyer->recipe;
    if (recipe->profile != PROFILE_LINE ||
        (recipe->syntax == SYNTAX_FIELDS && !recipe_has_list(recipe)))
        return false;
    return recipe->syntax == SYNTAX_JSONL || csv_single_column(recipe, &keyer->columns) == 0;
}

/* Takes the steps 2 to 6 of recipe.h. Of the last two `each`, or `last`, does both: for each of
 * several values, or at last. */
static enum no_key take_steps(struct keyer *keyer, struct without *each, struct without *last,
                              uint8_t kind, struct span *text)
{
    const struct recipe *recipe = &keyer->recipe;
    enum json_line json;
    /* 2 and 3. Trim; fields, columns or members. */
    switch (recipe->syntax) {
    case SYNTAX_CSV:
        if (!csv_take(recipe, &keyer->columns, each, *text, kind, keyer->text, text))
            return NO_KEY;
        break;
    case SYNTAX_JSONL:
        assert(keyer->json != NULL);
        json = json_take(recipe, &keyer->json->items, &keyer->json->lines, *text, keyer->text,
                         text);
        if (json != JSON_KEY)
            return json == JSON_NO_TEXT ? NO_KEY_NOT_JSON : NO_KEY;
        break;
    default:
        if (recipe->trim)
            *text = span_between(text->bytes + mark_length(text->bytes, text->length),
                                 span_end(*text));
        *text = recipe_trim(recipe, *text);
        if (recipe->ranges > 0
                ? !(each != NULL ? fields_select_each(recipe, each, *text, keyer->text, text)
                                 : fields_select(recipe, *text, keyer->text, text))
                : recipe_has_column_names(recipe) &&
                      !fields_take_columns(recipe, &keyer->columns, each, *text, keyer->text, text))
            return NO_KEY;
    }
    /* 4. Profile. */
    struct url url;
    bool normal;
    if (recipe->profile != PROFILE_LINE && text->length > URL_MAX)
        return NO_KEY;
    switch (recipe->profile) {
    case PROFILE_URL:
        if (!url_is_normal(*text) && !make_url(keyer, text))
            return NO_KEY;
        break;
    case PROFILE_HOST:
        if (!url_take_host(*text, keyer->buffers->url, text))
            return NO_KEY;
        break;
    case PROFILE_ENDPOINT:
        normal = url_is_normal(*text);
        if (!url_split(*text, keyer->buffers->url, &url))
            return NO_KEY;
        if (!normal)
            url_write(&url, keyer->buffers->url);
        *text = endpoint_write(&url, keyer->buffers->endpoint, keyer->buffers->names);
        break;
    default:
        break;
    }
    /* 5 and 6. Fold; without what patterns match. Without a profile, json_take has done both: in
     * strings alone. With patterns, what joins values does not fold: it came later. */
    if (last != NULL && !without_apply(last, text))
        return NO_KEY;
    if (recipe->fold && keyer->without == NULL &&
        (recipe->syntax != SYNTAX_JSONL || recipe->profile != PROFILE_LINE))
        *text = ascii_fold(*text, keyer->text);
    /* An empty value is none, where one was asked for. */
    const bool whole = recipe->syntax == SYNTAX_FIELDS && !recipe_has_list(recipe);
    return text->length > 0 || whole ? HAS_KEY : NO_KEY;
}

/* Makes the key of the line that is `text`. Says whether there is one. */
static enum no_key make_key(struct keyer *keyer, uint8_t kind, struct span *text)
{
    struct without *without = keyer->without;
    const bool joined = without != NULL && is_joined(keyer);
    return take_steps(keyer, joined ? without : NULL, joined ? NULL : without, kind, text);
}

/* Whether a line of such bytes alone has no data. TABs that separate are empty fields. */
static bool is_empty_byte(const struct recipe *recipe, char c)
{
    return json_is_blank(c) && !(recipe->separated && c == recipe->separator);
}

/* Why this line has no key, if make_key has said `why`. */
static enum no_key reason(const struct recipe *recipe, struct span line, enum no_key why)
{
    const char *first = line.bytes + mark_length(line.bytes, line.length), *end = span_end(line);
    while (first < end && is_empty_byte(recipe, *first))
        first++;
    while (first < end && is_empty_byte(recipe, end[-1]))
        end--;
    bool bracket = recipe->syntax == SYNTAX_JSONL && end - first == 1 &&
                   (*first == '[' || *first == ']');
    return first == end || bracket ? NO_KEY_IDLE : why;
}

int keyer_read_header(struct keyer *keyer, const char *line, size_t length, const char *input,
                      struct fault *fault)
{
    if (!recipe_has_column_names(&keyer->recipe))
        return 0;
    if (columns_find(&keyer->recipe, (struct span){line, length}, input, &keyer->columns, fault) !=
        0)
        return -1;
    return keyer_reserve(keyer, keyer->size) == 0 ? 0 : fault_errno(fault, input, NULL, ENOMEM);
}

unsigned keyer_members(const struct keyer *keyer)
{
    return keyer != NULL && keyer->json != NULL ? keyer->json->lines.members : 0;
}

struct key_text keyer_text(struct keyer *keyer, const char *line, size_t length, uint8_t kind)
{
    const struct span all = {line, length};
    struct span key = all;
    if (keyer->json != NULL)
        json_lines_begin(&keyer->json->lines, keyer->kernel, line, line + length, '\n');
    enum no_key why = make_key(keyer, kind, &key);
    if (why != HAS_KEY)
        return (struct key_text){line, length, reason(&keyer->recipe, all, why)};
    return (struct key_text){key.bytes, key.length, HAS_KEY};
}

static struct span line_of(const char *bytes, const size_t *starts, size_t i)
{
    return (struct span){bytes + starts[i], starts[i + 1] - 1 - starts[i]};
}

/* Hashes the key that line i has, or else the line. */
static inline __attribute__((always_inline)) void
hash_one(struct span key, bool made, const struct hashes *hashes, unsigned count, size_t i)
{
    for (unsigned h = 0; h < count; h++) {
        const struct hashers *hashers = &hashes[h].hashers;
        hashes[h].keys[i] = hash_key(key.bytes, key.length,
                                     *(made ? &hashers->key : &hashers->line));
    }
}

/* The field that was found in a line; or if the recipe's range has no end, all of the line from
 * there on. Returns false if there is none, or an empty one, as fields_select does. */
static inline bool take_field(const struct recipe *recipe, const char *bytes,
                              const struct row_field *field, struct span line, struct span *key)
{
    const char *end = recipe->range[0].last != 0 ? bytes + field->end : span_end(line);
    *key = span_between(bytes + field->first, end);
    return field->found && key->length > 0 && *key->bytes != recipe->separator;
}

/* Hashes the keys of up to GROUP lines, of which the first is line `from` of the hashes: together
 * where keys are as they stand in their lines. `column` is the only column that is wanted of rows,
 * or the first of lines, and all of the key; else 0. */
enum { GROUP = 64 };
static void hash_group(struct keyer *keyer, size_t column, const char *bytes, const size_t *starts,
                       const uint8_t *kinds, size_t n, const struct hashes *hashes, unsigned count,
                       size_t from, uint8_t *no_key)
{
    const struct recipe *recipe = &keyer->recipe;
    struct row_field fields[GROUP];
    struct piece pieces[GROUP];
    size_t first = 0; /* of those that are not hashed yet */
    if (keyer->json != NULL && n > 0)
        json_lines_begin(&keyer->json->lines, keyer->kernel, bytes + starts[0],
                         bytes + starts[n] - 1, n > 1 ? bytes[starts[1] - 1] : '\n');
    if (column != 0)
        keyer->kernel->column(bytes, starts, kinds, n, recipe->separator, column, fields);
    for (size_t i = 0; i <= n; i++) {
        struct span line = {NULL, 0}, key = line;
        enum no_key why = NO_KEY;
        if (i < n) {
            const uint8_t kind = kinds != NULL ? kinds[i] : ROW_ODD;
            line = key = line_of(bytes, starts, i);
            if (column != 0 && kinds == NULL)
                why = take_field(recipe, bytes, &fields[i], line, &key) ? HAS_KEY : NO_KEY;
            else if (column == 0 || (kind & ROW_ODD) != 0)
                why = make_key(keyer, kind, &key);
            else if (csv_take_field(recipe, bytes, &fields[i], keyer->text, &key))
                why = HAS_KEY;
            no_key[i] = why == HAS_KEY ? HAS_KEY : (uint8_t)reason(recipe, line, why);
            if (why == HAS_KEY && (uintptr_t)key.bytes - (uintptr_t)line.bytes <= line.length) {
                const size_t at = (size_t)(key.bytes - bytes);
                pieces[i] = (struct piece){at, at + key.length};
                continue;
            }
        }
        for (unsigned h = 0; h < count; h++)
            hash_pieces(bytes, pieces + first, i - first, hashes[h].hashers.key,
                        hashes[h].keys + from + first);
        if (i < n)
            hash_one(why == HAS_KEY ? key : line, why == HAS_KEY, hashes, count, from + i);
        first = i + 1;
    }
}

/* The same for lines that may be their own keys, whole or as URLs in normal form: runs of these are
 * hashed where they are. */
static void hash_runs(struct keyer *keyer, bool whole, const char *bytes, const size_t *starts,
                      size_t n, const struct hashes *hashes, unsigned count, uint8_t *no_key)
{
    for (size_t i = 0, first = 0; i < n; first = i) {
        const size_t end = whole || n - i < GROUP ? n : i + GROUP;
        while (i < end && !whole) {
            if (keyer->kernel->urls != NULL)
                i += keyer->kernel->urls(bytes, starts + i, end - i, URL_MAX);
            if (i == end || !url_is_normal(line_of(bytes, starts, i)))
                break;
            i++;
        }
        i = whole ? n : i;
        memset(no_key + first, HAS_KEY, i - first);
        for (unsigned h = 0; h < count; h++)
            hash_lines(bytes, starts + first, i - first, hashes[h].hashers.key,
                       hashes[h].keys + first);
        if (i == end)
            continue;
        struct span line = line_of(bytes, starts, i), key = line;
        const bool made = make_url(keyer, &key);
        no_key[i] = made ? HAS_KEY : (uint8_t)reason(&keyer->recipe, line, NO_KEY);
        hash_one(made ? key : line, made, hashes, count, i++);
    }
}

void keyer_hash(struct keyer *keyer, const char *bytes, const size_t *starts, const uint8_t *kinds,
                size_t n, const struct hashes *hashes, unsigned count, uint8_t *no_key)
{
    const struct recipe *recipe = &keyer->recipe;
    const bool whole = recipe_is_whole_line(recipe);
    /* --by url and nothing else */
    if (whole ||
        (recipe->syntax == SYNTAX_FIELDS && recipe->profile == PROFILE_URL &&
         !recipe_has_list(recipe) && !recipe->trim && !recipe->fold && keyer->without == NULL)) {
        hash_runs(keyer, whole, bytes, starts, n, hashes, count, no_key);
        return;
    }
    /* --csv, one column and nothing else; or -t with -f N or -f N- */
    const bool bare = recipe->profile == PROFILE_LINE && !recipe->fold && keyer->without == NULL;
    const struct field_range range = recipe->range[0];
    size_t column = 0;
    if (bare && recipe->syntax == SYNTAX_CSV && kinds != NULL)
        column = csv_single_column(recipe, &keyer->columns);
    else if (bare && recipe->syntax == SYNTAX_FIELDS && kinds == NULL && recipe->separated &&
             !recipe->trim && recipe->ranges == 1 && (range.last == 0 || range.last == range.first))
        column = range.first;
    for (size_t i = 0; i < n; i += GROUP)
        hash_group(keyer, column, bytes, starts + i, kinds != NULL ? kinds + i : NULL,
                   n - i < GROUP ? n - i : GROUP, hashes, count, i, no_key + i);
}

size_t keyer_texts(struct keyer *keyer, const char *bytes, const size_t *starts,
                   const uint8_t *kinds, size_t n, struct key_text *texts, uint8_t *no_key,
                   struct key_bytes *kept)
{
    size_t used = 0, i;
    for (i = 0; i < n; i++) {
        struct span line = line_of(bytes, starts, i);
        struct key_text text = keyer_text(keyer, line.bytes, line.length,
                                          kinds != NULL ? kinds[i] : ROW_ODD);
        if ((uintptr_t)text.bytes - (uintptr_t)line.bytes > line.length && text.length > 0) {
            if (kept->capacity - used < text.length) {
                size_t capacity = 2 * kept->capacity + text.length;
                char *grown = realloc(kept->bytes, capacity);
                if (grown == NULL)
                    break;
                *kept = (struct key_bytes){grown, capacity};
            }
            memcpy(kept->bytes + used, text.bytes, text.length);
            text.bytes = NULL; /* they may move */
            used += text.length;
        }
        texts[i] = text;
        no_key[i] = (uint8_t)text.no_key;
    }
    const char *at = kept->bytes;
    for (size_t k = 0; k < i; k++)
        if (texts[k].bytes == NULL) {
            texts[k].bytes = at;
            at += texts[k].length;
        }
    return i;
}
