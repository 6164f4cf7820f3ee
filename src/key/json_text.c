#include "key/json_text.h"

#include "core/bytes.h"

#include <stdlib.h>

struct text {
    const char *at, *end;
};

static inline char peek(const struct text *text)
{
    return text->at < text->end ? *text->at : '\0';
}

/* `byte` is not NUL. */
static inline bool pass_byte(struct text *text, char byte)
{
    bool there = peek(text) == byte;
    text->at += there;
    return there;
}

static inline void pass_blanks(struct text *text)
{
    while (text->at < text->end && json_is_blank(*text->at))
        text->at++;
}

/* --- escapes --- */

/* Reads the four digits after \u. Returns -1 if they are not there. */
static int32_t pass_hex(struct text *text)
{
    int32_t value = 0;
    if (text->end - text->at < 4)
        return -1;
    for (int i = 0; i < 4; i++, text->at++) {
        if (!ascii_is_hex(*text->at))
            return -1;
        value = value << 4 | (int32_t)ascii_hex_value(*text->at);
    }
    return value;
}

/* Reads what follows a backslash: one character, or one half of a pair of surrogates. Returns its
 * number, or -1. */
static int32_t pass_escape(struct text *text)
{
    const char letter = peek(text);
    text->at += text->at < text->end;
    switch (letter) {
    case QUOTE:
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u':
        return pass_hex(text);
    default:
        return -1;
    }
}

struct span json_decode(struct span string, char *buffer)
{
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    char *out = buffer;
    const char *escape = memchr(string.bytes, '\\', string.length);
    if (escape == NULL)
        return string;
    for (struct text text = {string.bytes, span_end(string)}; text.at < text.end;) {
        /* Up to the next escape. What is decoded is never longer than what was read, so there is
         * room for eight bytes of which not all are wanted. */
        for (uint64_t hits = 0; hits == 0 && text.end - text.at >= 8;) {
            uint64_t word = load64((const uint8_t *)text.at);
            store64((uint8_t *)out, word);
            hits = zero_bytes(word ^ eight_bytes('\\'));
            const unsigned n = hits != 0 ? (unsigned)__builtin_ctzll(hits) >> 3 : 8;
            text.at += n;
            out += n;
        }
        if (text.at == text.end)
            break;
        if (*text.at != '\\') {
            *out++ = *text.at++;
            continue;
        }
        text.at++;
        unsigned c = (unsigned)pass_escape(&text);
        /* Two halves are one character. A half that stands alone stays what it is. */
        struct text next = text;
        if (c >> 10 == 0xd800 >> 10 && pass_byte(&next, '\\') && peek(&next) == 'u') {
            unsigned low = (unsigned)pass_escape(&next);
            if (low >> 10 == 0xdc00 >> 10) {
                c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
                text = next;
            }
        }
        /* In UTF-8. */
        unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        *out++ = (char)(lead[more] | c >> (6 * more));
        while (more-- > 0)
            *out++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
    }
    return span_between(buffer, out);
}

struct span json_compact(struct span value, char *buffer)
{
    char *out = buffer;
    bool inside = false;
    for (const char *at = value.bytes; at < span_end(value); at++) {
        if (!inside && json_is_blank(*at))
            continue;
        inside ^= *at == QUOTE;
        *out++ = *at;
        if (*at == '\\') /* only in strings */
            *out++ = *++at;
    }
    return span_between(buffer, out);
}

/* --- numbers and words --- */

static bool pass_digits(struct text *text)
{
    const char *first = text->at;
    while (text->at < text->end && ascii_is_digit(*text->at))
        text->at++;
    return text->at > first;
}

static bool pass_word(struct text *text, const char *word, ptrdiff_t length)
{
    bool there = text->end - text->at >= length && memcmp(text->at, word, (size_t)length) == 0;
    text->at += there ? length : 0;
    return there;
}

static bool pass_number_or_word(struct text *text)
{
    switch (peek(text)) {
    case 't':
        return pass_word(text, "true", 4);
    case 'f':
        return pass_word(text, "false", 5);
    case 'n':
        return pass_word(text, "null", 4);
    case 'N':
        return pass_word(text, "NaN", 3);
    case '-':
        text->at++;
        break;
    default:
        break;
    }
    if (peek(text) == 'I')
        return pass_word(text, "Infinity", 8);
    if (!pass_byte(text, '0') && !pass_digits(text))
        return false;
    if (pass_byte(text, '.') && !pass_digits(text))
        return false;
    if (!pass_byte(text, 'e') && !pass_byte(text, 'E'))
        return true;
    if (!pass_byte(text, '+'))
        pass_byte(text, '-');
    return pass_digits(text);
}

/* --- what is looked for --- */

struct json_step json_step_of(struct span name, bool pointer)
{
    enum { DIGITS = 18 };
    bool is_index = pointer && name.length > 0 && name.length <= DIGITS &&
                    strspn(name.bytes, "0123456789") == name.length &&
                    (name.bytes[0] != '0' || name.length == 1);
    uint8_t word[8] = {0}, mask[8] = {0xff};
    /* A name with a quote is never written so in a text: it has a NUL there, as no string has. */
    for (size_t i = 0; i < 8 && i <= name.length; i++) {
        word[i] = i == name.length ? QUOTE : name.bytes[i] == QUOTE ? 0 : (uint8_t)name.bytes[i];
        mask[i] = 0xff;
    }
    return (struct json_step){
        name,
        is_index ? strtoull(name.bytes, NULL, 10) : UINT64_MAX,
        load64(word),
        load64(mask),
    };
}

/* An object or array that is open. At depth d, counted from 1, are the members of d steps. */
struct level {
    char closing;       /* the bracket after which it has ended */
    uint16_t live;      /* items whose first steps have led here, a bit for each */
    uint16_t member_of; /* of these, the ones whose next step leads to the member at hand, */
    uint64_t index;     /* the number of the next, if it is an array, */
    const char *value;  /* and where the value begins */
};

/* The level of an object or array that is the value of a member of `around`, which has `depth`. */
static inline struct level begin_level(const struct json_search *search, const struct level *around,
                                       unsigned depth, char bracket)
{
    unsigned live = 0;
    for (unsigned i = 0, which = around->member_of; which != 0; i++, which >>= 1)
        live |= (which & (search->item[i].steps > depth)) << i;
    return (struct level){.closing = (char)(bracket + 2), .live = (uint16_t)live};
}

/* The first level is that around the text, of which each item is a member. */
static inline struct level begin_search(struct json_search *search, bool escapes)
{
    search->escapes = escapes;
    for (unsigned i = 0; i < search->n; i++)
        search->value[i] = (struct span){NULL, 0};
    return (struct level){.member_of = (uint16_t)((1U << search->n) - 1)};
}

/* Begins with a member, of which the value is still to come: what was found in one of the same name
 * counts no longer. */
static inline void begin_member(struct json_search *search, struct level *level, unsigned which)
{
    level->member_of = (uint16_t)which;
    for (unsigned i = 0; which != 0; i++, which >>= 1)
        if ((which & 1) != 0)
            search->value[i] = (struct span){NULL, 0};
}

static inline void end_member(struct json_search *search, const struct level *level, unsigned depth,
                              struct span value)
{
    for (unsigned i = 0, which = level->member_of; which != 0; i++, which >>= 1)
        if ((which & 1) != 0 && search->item[i].steps == depth)
            search->value[i] = value;
}

/* Which of the live items have a step to the member of this name; or to the next element. */
static unsigned match_name(const struct json_search *search, const struct level *level,
                           unsigned depth, struct span name)
{
    unsigned which = 0;
    for (unsigned i = 0, live = level->live; live != 0; i++, live >>= 1) {
        if ((live & 1) == 0)
            continue;
        const struct span wanted = search->item[i].step[depth - 1].name;
        if (wanted.length == name.length && memcmp(wanted.bytes, name.bytes, name.length) == 0)
            which |= 1U << i;
    }
    return which;
}

static inline unsigned match_next(const struct json_search *search, struct level *level,
                                  unsigned depth)
{
    unsigned which = 0;
    for (unsigned i = 0, live = level->live; live != 0; i++, live >>= 1)
        if ((live & 1) != 0 && search->item[i].step[depth - 1].index == level->index)
            which |= 1U << i;
    level->index++;
    return which;
}

/* --- byte by byte --- */

/* Passes a string whose opening quote was passed, and its closing quote. */
static bool pass_string(struct text *text)
{
    while (text->at < text->end) {
        char c = *text->at++;
        if (c == QUOTE)
            return true;
        if ((unsigned char)c < 0x20 || (c == '\\' && pass_escape(text) < 0))
            return false;
    }
    return false;
}

/* Passes a value of any kind, and finds its members. Not recursive: a line must not use up the
 * stack. */
static bool pass_value(struct text *text, struct json_search *search)
{
    struct level levels[JSON_DEPTH_MAX + 1], *level = levels;
    *level = begin_search(search, true);
    for (;;) {
        /* 1. A value: as a whole, or the bracket that opens an object or array, which ends at once
         * if it is empty. */
        const char bracket = peek(text);
        const unsigned around = (unsigned)(level - levels);
        bool ended = true;
        if (bracket == '{' || bracket == '[') {
            if (around == JSON_DEPTH_MAX)
                return false;
            level[1] = begin_level(search, level, around, bracket);
            text->at++;
            pass_blanks(text);
            ended = pass_byte(text, level[1].closing);
            level += !ended;
        } else if (pass_byte(text, QUOTE) ? !pass_string(text) : !pass_number_or_word(text)) {
            return false;
        }
        /* 2. After a value: a comma, or the bracket after which what it is in has ended as a value,
         * too. */
        while (ended) {
            if (level == levels)
                return true;
            end_member(search, level, (unsigned)(level - levels),
                       span_between(level->value, text->at));
            pass_blanks(text);
            ended = !pass_byte(text, ',');
            if (ended && !pass_byte(text, level->closing))
                return false;
            level -= ended;
        }
        /* 3. Before the next value: in an object, its name and a colon. */
        const unsigned depth = (unsigned)(level - levels);
        unsigned which = 0;
        pass_blanks(text);
        if (level->closing == '}') {
            const char *name = text->at + 1;
            if (!pass_byte(text, QUOTE) || !pass_string(text))
                return false;
            if (level->live != 0)
                which = match_name(search, level, depth,
                                   json_decode(span_between(name, text->at - 1), search->buffer));
            pass_blanks(text);
            if (!pass_byte(text, ':'))
                return false;
            pass_blanks(text);
        } else {
            which = match_next(search, level, depth);
        }
        begin_member(search, level, which);
        level->value = text->at;
    }
}

bool json_find(struct span text, struct json_search *search)
{
    struct text left = {text.bytes, span_end(text)};
    pass_blanks(&left);
    if (!pass_value(&left, search))
        return false;
    pass_blanks(&left);
    if (pass_byte(&left, ','))
        pass_blanks(&left);
    return left.at == left.end;
}

/* --- over tokens --- */

void json_lines_begin(struct json_lines *lines, const struct kernel *kernel, const char *first,
                      const char *end, char delimiter)
{
    lines->kernel = kernel;
    lines->bytes = first;
    lines->end = end;
    lines->scan = (struct token_scan){.delimiter = delimiter};
    lines->n = lines->next = 0;
}

/* After the last token comes the end of all, again and again. */
static __attribute__((noinline)) void find_more(struct json_lines *lines)
{
    size_t length = (size_t)(lines->end - lines->bytes);
    lines->next = 0;
    lines->n = lines->kernel->tokens(lines->bytes, length, &lines->scan, lines->token, JSON_TOKENS);
    if (lines->scan.at == length)
        lines->token[lines->n++] = (uint32_t)length;
}

/* The tokens of one line. */
struct tokens {
    struct json_lines *lines;
    const uint32_t *next, *end; /* of those that were found */
    const char *bytes;          /* of all lines */
    size_t length;              /* up to the end of this line */
    struct json_search *search;
};

/* The offset of the next token. */
static inline size_t next_token(struct tokens *tokens)
{
    while (tokens->next == tokens->end) {
        find_more(tokens->lines);
        tokens->next = tokens->lines->token;
        tokens->end = tokens->next + tokens->lines->n;
    }
    return *tokens->next++;
}

/* The byte there; NUL, which is no token, at the end of the line. */
static inline char byte_at(const struct tokens *tokens, size_t at)
{
    return at < tokens->length ? tokens->bytes[at] : '\0';
}

/* Passes the escapes in the string that begins at `at`. Returns the token behind it; or an offset
 * behind the line, if one is wrong, or in no string: then a quote is before it. */
static inline size_t pass_escapes(struct tokens *tokens, size_t at, bool *escaped)
{
    size_t next = next_token(tokens);
    for (*escaped = false; byte_at(tokens, next) == '\\'; next = next_token(tokens)) {
        struct text escape = {tokens->bytes + next + 1, tokens->bytes + tokens->length};
        *escaped = tokens->search->escapes = true;
        if ((tokens->lines->scan.stray &&
             memchr(tokens->bytes + at + 1, QUOTE, next - at - 1) != NULL) ||
            pass_escape(&escape) < 0)
            return SIZE_MAX;
        at = next + 1;
    }
    return next;
}

/* The bytes from a token to another, without the blanks between. */
static inline struct span span_of(const struct tokens *tokens, size_t from, size_t next)
{
    const char *first = tokens->bytes + from, *end = tokens->bytes + next;
    while (json_is_blank(end[-1]))
        end--;
    return span_between(first, end);
}

/* As match_name, for a name that is not decoded yet, from its first byte to the token after it. */
static __attribute__((noinline)) unsigned match_written(const struct tokens *tokens,
                                                        const struct level *level, unsigned depth,
                                                        size_t at, size_t next)
{
    struct span name = span_of(tokens, at, next);
    name.length--; /* its quote */
    return match_name(tokens->search, level, depth, json_decode(name, tokens->search->buffer));
}

/* Whether a name without escapes is that of a step: its first eight bytes, which may be read, tell
 * it from most others, and a quote behind it from longer ones. */
static inline bool is_name_of(const struct tokens *tokens, const struct json_step *step, size_t at,
                              size_t next)
{
    const char *name = tokens->bytes + at;
    const size_t length = step->name.length;
    return ((load64((const uint8_t *)name) ^ step->word) & step->word_mask) == 0 &&
           (length < 8 || (span_of(tokens, at, next).length == length + 1 &&
                           memcmp(name, step->name.bytes, length) == 0));
}

/* As match_name, for a name without escapes. */
static inline unsigned match_plain(const struct tokens *tokens, const struct level *level,
                                   unsigned depth, size_t at, size_t next)
{
    unsigned which = 0;
    if (tokens->lines->end - tokens->bytes - (ptrdiff_t)at < 8)
        return match_written(tokens, level, depth, at, next);
    for (unsigned i = 0, live = level->live; live != 0; i++, live >>= 1)
        if ((live & 1) != 0 &&
            is_name_of(tokens, &tokens->search->item[i].step[depth - 1], at, next))
            which |= 1U << i;
    return which;
}

/* Whether the bytes from a token to the next are a number or a word, and blanks. */
static inline bool is_word(const struct tokens *tokens, size_t at, size_t next)
{
    struct text word = {tokens->bytes + at, tokens->bytes + next};
    if (*word.at >= '1' && *word.at <= '9')
        for (word.at++; word.at < word.end && ascii_is_digit(*word.at); word.at++) {
        }
    if (word.at == word.end)
        return true;
    word.at = tokens->bytes + at;
    if (!pass_number_or_word(&word))
        return false;
    pass_blanks(&word);
    return word.at == word.end;
}

/* Whether four tokens are all of a member: name, colon, value, and a comma or the bracket after
 * which the object has ended. */
static inline bool is_plain_member(const struct tokens *tokens, const uint32_t token[4])
{
    const char *bytes = tokens->bytes;
    const char value = bytes[token[2]], after = bytes[token[3]];
    return bytes[token[0]] == QUOTE && bytes[token[1]] == ':' && (after == ',' || after == '}') &&
           (value == QUOTE || is_word(tokens, token[2], token[3]));
}

/* Passes such members of an object, from the name that is the token *next on. Returns whether it
 * has ended; *next is then the token after it, and else that of the next name. */
static inline bool pass_plain_members(struct tokens *tokens, struct level *level, unsigned depth,
                                      size_t *next)
{
    const uint32_t *token = tokens->next - 1;
    bool ended = false;
    while (!ended && tokens->end - token >= 4 && token[3] < tokens->length &&
           is_plain_member(tokens, token)) {
        const unsigned which = level->live == 0
                                   ? 0
                                   : match_plain(tokens, level, depth, token[0] + 1, token[1]);
        if (which != 0) {
            begin_member(tokens->search, level, which);
            end_member(tokens->search, level, depth, span_of(tokens, token[2], token[3]));
        }
        ended = tokens->bytes[token[3]] == '}';
        token += 4;
    }
    tokens->next = token;
    *next = next_token(tokens);
    return ended;
}

/* The same steps as in pass_value, for an array or object, whose first token is at `at`. Returns
 * the token after it; or an offset behind the line. */
static inline size_t pass_tokens(struct tokens *tokens, size_t at)
{
    enum { DEPTH = 64 };
    struct json_search *search = tokens->search;
    struct level levels[DEPTH + 1], *level = levels;
    bool escaped;
    *level = begin_search(search, false);
    for (size_t next;; at = next) {
        char c = byte_at(tokens, at);
        bool ended = true;
        next = c == QUOTE ? pass_escapes(tokens, at, &escaped) : next_token(tokens);
        if (c == '{' || c == '[') {
            if (level - levels == DEPTH)
                return SIZE_MAX;
            level[1] = begin_level(search, level, (unsigned)(level - levels), c);
            ended = byte_at(tokens, next) == c + 2;
            if (ended)
                next = next_token(tokens);
            else
                level++;
        } else if (c != QUOTE &&
                   (at >= next || next > tokens->length || !is_word(tokens, at, next))) {
            return SIZE_MAX;
        }
        /* After a value that has ended; in an object, also members that are quickly passed. */
        for (;; level--) {
            const unsigned depth = (unsigned)(level - levels);
            if (ended) {
                if (depth == 0)
                    return next;
                if (next > tokens->length)
                    return SIZE_MAX;
                if (level->member_of != 0)
                    end_member(search, level, depth,
                               span_of(tokens, (size_t)(level->value - tokens->bytes), next));
                c = byte_at(tokens, next);
                ended = c != ',';
                if (ended && c != level->closing)
                    return SIZE_MAX;
                next = next_token(tokens);
            }
            if (!ended && level->closing == '}')
                ended = pass_plain_members(tokens, level, depth, &next);
            if (!ended)
                break;
        }
        const unsigned depth = (unsigned)(level - levels);
        unsigned which = 0;
        if (level->closing == '}') {
            const size_t name = next + 1;
            if (byte_at(tokens, next) != QUOTE)
                return SIZE_MAX;
            next = pass_escapes(tokens, name - 1, &escaped);
            if (byte_at(tokens, next) != ':')
                return SIZE_MAX;
            if (level->live != 0)
                which = escaped ? match_written(tokens, level, depth, name, next)
                                : match_plain(tokens, level, depth, name, next);
            next = next_token(tokens);
        } else {
            which = match_next(search, level, depth);
        }
        begin_member(search, level, which);
        level->value = tokens->bytes + next;
    }
}

bool json_find_next(struct json_lines *lines, struct span line, struct json_search *search)
{
    struct tokens tokens = {lines, lines->token + lines->next, lines->token + lines->n,
                            lines->bytes, (size_t)(span_end(line) - lines->bytes),
                            /* cppcheck-suppress ctuuninitvar ; begin_search clears its values */
                            search};
    const size_t first = (size_t)(line.bytes - lines->bytes);
    size_t at;
    if ((size_t)(lines->end - lines->bytes) > UINT32_MAX)
        return false;
    /* 1. What is left of lines that were not taken is passed over, and a byte order mark, with
     * nothing but blanks behind it. */
    do
        at = next_token(&tokens);
    while (at < first);
    const size_t mark = mark_length(line.bytes, line.length);
    if (at == first && mark > 0) {
        at = next_token(&tokens);
        if (span_of(&tokens, first, at).length > mark)
            at = SIZE_MAX;
    }
    /* 2. The text. */
    bool found = false;
    char c = byte_at(&tokens, at);
    if (c == '{' || c == '[') {
        at = pass_tokens(&tokens, at);
        if (byte_at(&tokens, at) == ',')
            at = next_token(&tokens);
        found = at == tokens.length;
    }
    /* 3. The last token that was looked at may belong to the next line. */
    lines->next = (size_t)(tokens.next - lines->token);
    lines->next -= at != tokens.length;
    return found;
}

bool json_find_member(struct json_lines *lines, struct span line, const struct json_step *step,
                      struct span *value)
{
    const uint32_t *token = lines->token + lines->next, *end = lines->token + lines->n;
    const struct tokens tokens = {.lines = lines,
                                  .bytes = lines->bytes,
                                  .length = (size_t)(span_end(line) - lines->bytes)};
    *value = (struct span){NULL, 0};
    if (token == end || *token >= tokens.length || lines->bytes + *token != line.bytes ||
        *line.bytes != '{')
        return false;
    for (token++;; token += 4) {
        /* After four tokens comes another, if only the end. */
        if (end - token < 5 || token[3] >= tokens.length || !is_plain_member(&tokens, token) ||
            lines->end - lines->bytes - (ptrdiff_t)token[0] < 9)
            return false;
        if (is_name_of(&tokens, step, token[0] + 1, token[1]))
            *value = span_of(&tokens, token[2], token[3]);
        if (lines->bytes[token[3]] == '}')
            break;
    }
    if (token[4] != tokens.length)
        return false;
    lines->next = (size_t)(token + 5 - lines->token);
    return true;
}
