/* keyer - the steps by which a line becomes its key; see recipe.h. */
#include "key/keyer.h"

#include "core/bytes.h"
#include "key/csv.h"
#include "key/endpoint.h"
#include "key/fields.h"
#include "key/host.h"
#include "key/json.h"
#include "key/url.h"

#include <stdlib.h>
#include <string.h>

/* The most bytes that --by writes: three per byte of the URL, and some after its end. */
enum { URL_BUFFER = 3 * URL_MAX + 32 };

/* Buffers for --by. */
struct url_buffers {
    char url[URL_BUFFER]; /* or the host */
    char endpoint[URL_BUFFER];
    struct span names[URL_MAX / 2];
};

struct keyer {
    struct recipe recipe;
    struct url_buffers *buffers; /* NULL without --by */
    struct json_items *items;    /* NULL without --jsonl */
    struct csv_columns columns;  /* of the input */
    const char *wrong;           /* why the last line is not CSV */
    size_t size;                 /* the longest line for which there is room at `text` */
    char *text;                  /* joined fields, or text in lower case */
};

/* Only buffers that the recipe needs are allocated: a run of one line would notice. */
struct keyer *keyer_new(const struct recipe *recipe)
{
    struct keyer *keyer = calloc(1, sizeof *keyer);
    if (keyer == NULL)
        return NULL;
    keyer->recipe = *recipe;
    if (recipe->profile != PROFILE_LINE)
        keyer->buffers = malloc(sizeof *keyer->buffers);
    if (recipe->syntax == SYNTAX_JSONL)
        keyer->items = malloc(sizeof *keyer->items);
    if ((recipe->profile != PROFILE_LINE && keyer->buffers == NULL) ||
        (recipe->syntax == SYNTAX_JSONL && keyer->items == NULL) ||
        keyer_reserve(keyer, URL_BUFFER) != 0) {
        keyer_free(keyer);
        return NULL;
    }
    if (keyer->items != NULL)
        json_split_items(recipe, keyer->items);
    return keyer;
}

void keyer_free(struct keyer *keyer)
{
    if (keyer == NULL)
        return;
    free(keyer->buffers);
    free(keyer->items);
    free(keyer->text);
    free(keyer);
}

int keyer_reserve(struct keyer *keyer, size_t length)
{
    const struct recipe *recipe = &keyer->recipe;
    bool decodes = recipe->syntax != SYNTAX_FIELDS;
    if ((!decodes && recipe->ranges == 0 && !recipe->fold) || length <= keyer->size)
        return 0;
    char *text = malloc(decodes ? SPAN_DECODED(length) : length + FIELDS_SPARE);
    if (text == NULL)
        return -1;
    free(keyer->text);
    keyer->text = text;
    keyer->size = length;
    return 0;
}

static bool take_endpoint(struct keyer *keyer, struct span *text)
{
    struct url url;
    bool normal = url_is_normal(*text);
    if (!url_split(*text, &url))
        return false;
    if (!normal)
        url_write(&url, keyer->buffers->url);
    *text = endpoint_write(&url, keyer->buffers->endpoint, keyer->buffers->names);
    return true;
}

static bool make_url(struct keyer *keyer, struct span *text)
{
    struct url url;
    if (text->length > URL_MAX || !url_split(*text, &url))
        return false;
    *text = url_write(&url, keyer->buffers->url);
    return true;
}

static bool take_url(struct keyer *keyer, struct span *text)
{
    return url_is_normal(*text) || make_url(keyer, text);
}

static bool take_profile(struct keyer *keyer, struct span *text)
{
    if (keyer->recipe.profile == PROFILE_LINE)
        return true;
    if (text->length > URL_MAX)
        return false;
    if (keyer->recipe.profile == PROFILE_URL)
        return take_url(keyer, text);
    if (keyer->recipe.profile == PROFILE_HOST)
        return host_take(*text, keyer->buffers->url, text);
    return take_endpoint(keyer, text);
}

/* Sets the high bit of each byte that is A-Z: adding 0x80 - 'A' to it gives 0x80 or more, adding
 * 0x7f - 'Z' does not. */
static uint64_t upper_bytes(uint64_t word)
{
    uint64_t low = word & eight_bytes(0x7f);
    uint64_t from_a = low + eight_bytes(0x80 - 'A'), after_z = low + eight_bytes(0x7f - 'Z');
    return from_a & ~after_z & ~word & eight_bytes(0x80);
}

/* The text may already be in keyer->text, at its start or further on, so it is copied forward. */
static struct span fold(struct keyer *keyer, struct span text)
{
    size_t at = 0;
    for (; text.length - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, text.bytes + at, sizeof word);
        word |= upper_bytes(word) >> 2;
        memcpy(keyer->text + at, &word, sizeof word);
    }
    for (; at < text.length; at++)
        keyer->text[at] = ascii_lower(text.bytes[at]);
    return (struct span){keyer->text, text.length};
}

/* Steps 2 and 3. */
static bool take_fields(struct keyer *keyer, struct span *text)
{
    const struct recipe *recipe = &keyer->recipe;
    if (recipe->syntax == SYNTAX_CSV)
        return csv_take(recipe, &keyer->columns, *text, keyer->text, text, &keyer->wrong) ==
               CSV_KEY;
    if (recipe->syntax == SYNTAX_JSONL)
        return json_take(recipe, keyer->items, *text, keyer->text, text);
    return fields_take(recipe, *text, keyer->text, text);
}

/* Makes the key of the line that is `text`. Returns false if the line has no key. */
static bool take_key(struct keyer *keyer, struct span *text)
{
    const struct recipe *recipe = &keyer->recipe;
    if (!take_fields(keyer, text) || !take_profile(keyer, text))
        return false;
    bool folded = recipe->syntax == SYNTAX_JSONL && recipe->profile == PROFILE_LINE;
    if (recipe->fold && !folded)
        *text = fold(keyer, *text);
    return true;
}

/* The key that was taken from a line, or the whole line if it has none. */
static struct key_text key_or_line(bool taken, struct span key, struct span line)
{
    return taken ? (struct key_text){key.bytes, key.length, false}
                 : (struct key_text){line.bytes, line.length, true};
}

int keyer_read_header(struct keyer *keyer, const char *line, size_t length, const char *input,
                      struct fault *fault)
{
    if (keyer->recipe.syntax != SYNTAX_CSV)
        return 0;
    return csv_find_columns(&keyer->recipe, (struct span){line, length}, keyer->text, input,
                            &keyer->columns, fault);
}

const char *keyer_wrong(const struct keyer *keyer)
{
    return keyer->wrong;
}

struct key_text keyer_text(struct keyer *keyer, const char *line, size_t length)
{
    const struct span whole = {line, length};
    struct span key = whole;
    bool taken = take_key(keyer, &key);
    return key_or_line(taken, key, whole);
}

/* Whether the recipe is --by url and nothing else. */
static bool is_url_of_line(const struct recipe *recipe)
{
    return recipe->syntax == SYNTAX_FIELDS && recipe->profile == PROFILE_URL &&
           recipe->ranges == 0 && !recipe->trim && !recipe->fold;
}

/* A pair of hash functions, and where its hashes go. */
struct hashed {
    struct hashers hashers;
    struct key *keys;
};

/* Lines that lie end to end, and where their hashes go. */
struct batch {
    const char *bytes;
    const size_t *starts;
    uint8_t *no_key;
    struct hashed first, second; /* second.keys may be NULL */
};

static struct span line_of(const struct batch *batch, size_t i)
{
    size_t length = batch->starts[i + 1] - 1 - batch->starts[i];
    return (struct span){batch->bytes + batch->starts[i], length};
}

static void hash_into(const struct hashed *set, size_t i, struct key_text text)
{
    const struct hasher *hasher = text.no_key ? &set->hashers.line : &set->hashers.key;
    set->keys[i] = hash_key(text.bytes, text.length, *hasher);
}

static void hash_text(const struct batch *batch, size_t i, struct key_text text)
{
    batch->no_key[i] = text.no_key;
    hash_into(&batch->first, i, text);
    if (batch->second.keys != NULL)
        hash_into(&batch->second, i, text);
}

/* Lines from..end are their own keys. */
static void hash_run(const struct batch *batch, size_t from, size_t end)
{
    const struct hashed *first = &batch->first, *second = &batch->second;
    const size_t *starts = batch->starts + from;
    hash_lines(batch->bytes, starts, end - from, first->hashers.key, first->keys + from);
    if (second->keys != NULL)
        hash_lines(batch->bytes, starts, end - from, second->hashers.key, second->keys + from);
}

/* Runs of lines that are URLs in normal form are hashed in place. */
static void hash_urls(struct keyer *keyer, const struct batch *batch, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = i;
        for (; i < n && url_is_normal(line_of(batch, i)); i++)
            batch->no_key[i] = 0;
        hash_run(batch, first, i);
        if (i == n)
            return;
        struct span line = line_of(batch, i), key = line;
        bool taken = make_url(keyer, &key);
        hash_text(batch, i, key_or_line(taken, key, line));
    }
}

/* Returns how many lines precede one that is wrong. */
static size_t hash_each(struct keyer *keyer, const struct batch *batch, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct span line = line_of(batch, i);
        struct key_text text = keyer_text(keyer, line.bytes, line.length);
        if (keyer->wrong != NULL)
            return i;
        hash_text(batch, i, text);
    }
    return n;
}

static size_t hash_batch(struct keyer *keyer, const struct batch *batch, size_t n)
{
    if (recipe_is_whole_line(&keyer->recipe)) {
        hash_run(batch, 0, n);
        memset(batch->no_key, 0, n);
    } else if (is_url_of_line(&keyer->recipe)) {
        hash_urls(keyer, batch, n);
    } else {
        return hash_each(keyer, batch, n);
    }
    return n;
}

size_t keyer_hash(struct keyer *keyer, const char *bytes, const size_t *starts, size_t n,
                  struct hashers hashers, struct key *keys, uint8_t *no_key)
{
    const struct hashed only = {hashers, keys}, none = {.keys = NULL};
    return hash_batch(keyer, &(struct batch){bytes, starts, no_key, only, none}, n);
}

size_t keyer_hash_twice(struct keyer *keyer, const char *bytes, const size_t *starts, size_t n,
                        const struct hashers hashers[2], struct key *const keys[2], uint8_t *no_key)
{
    const struct hashed first = {hashers[0], keys[0]}, second = {hashers[1], keys[1]};
    return hash_batch(keyer, &(struct batch){bytes, starts, no_key, first, second}, n);
}
