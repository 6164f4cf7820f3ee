/* Numbers as people write them. */
#include "text/number.h"

#include "tap.h"

#include <math.h>
#include <string.h>

static void as_people_write(void)
{
    static const struct {
        double number;
        unsigned digits;
        const char *text;
    } numbers[] = {
        {1e-6, 6, "1e-6"},          {1e-4, 6, "1e-4"},         {0.000123456, 3, "1.23e-4"},
        {3.19291e-7, 3, "3.19e-7"}, {1.5e-100, 3, "1.5e-100"}, {0, 3, "0"},
        {-2e-7, 3, "-2e-7"},        {1e100, 3, "1e100"},       {12345678, 16, "12345678"},
    };
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tap_check(strcmp(number_text(numbers[i].number, numbers[i].digits, text),
                         numbers[i].text) == 0,
                  "%s: %s", numbers[i].text, text);
}

static void about(void)
{
    static const struct {
        double number;
        const char *count, *size;
    } rows[] = {
        {0, "0", "0 B"},           {1, "1", "1 B"},           {999, "999", "999 B"},
        {999.6, "1K", "1.0 kB"},   {9940, "9.94K", "9.9 kB"}, {9960, "9.96K", "10 kB"},
        {12345, "12.3K", "12 kB"}, {1e7, "10M", "10 MB"},     {999499, "999K", "999 kB"},
        {999501, "1M", "1.0 MB"},  {1e12, "1T", "1.0 TB"},    {5e15, "5P", "5.0 PB"},
    };
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tap_check(strcmp(number_count(rows[i].number, text), rows[i].count) == 0, "%g: %s",
                  rows[i].number, text);
        tap_check(strcmp(number_size(rows[i].number, text), rows[i].size) == 0, "%g: %s",
                  rows[i].number, text);
    }
}

static const struct {
    enum number_kind kind;
    double number;
    const char *texts[4]; /* the first is what is written */
} equal[] = {
    {NUMBER_COUNT, 0, {"0", "0K"}},
    {NUMBER_COUNT, 1024, {"1024", "1.024K", "1.024k"}},
    {NUMBER_COUNT, 1e12, {"1T", "1e12", "10^12", "1000G"}},
    {NUMBER_COUNT, 1234567, {"1234567", "1.234567M"}},
    {NUMBER_SIZE, 65536, {"64K", "64KiB", "64k", "65.536kB"}},
    {NUMBER_SIZE, 64000, {"64000", "64kB", "64KB"}},
    {NUMBER_SIZE, 0x1p50, {"1P", "1024T", "1PiB"}},
    {NUMBER_TIME, 0, {"0s", "0d"}},
    {NUMBER_TIME, 1, {"0.001s"}},
    {NUMBER_TIME, 1500, {"1.5s", "0.025m"}},
    {NUMBER_TIME, 9950, {"9.95s", "9.95s"}},
    {NUMBER_TIME, 129600e3, {"36h", "1d12h", "1.5d", "1d11h60m"}},
    {NUMBER_TIME, 3240000e3, {"37d12h", "900h"}},
    {NUMBER_TIME, 604800e3, {"7d", "1w", "6d24h", "168h"}},
    {NUMBER_RATE, 0.003, {"0.003", "0.3%", "3e-3", ".003"}},
    {NUMBER_RATE, 1e-6, {"1e-06", "1e-6", "10^-6", "1e-4%"}},
    {NUMBER_PLAIN, 20.5, {"20.5", "20.50"}},
};

static void read_and_written(void)
{
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        number_exact(equal[i].number, equal[i].kind, text);
        tap_check(strcmp(text, equal[i].texts[0]) == 0, "%s: %s", equal[i].texts[0], text);
        for (size_t j = 0; j < 4 && equal[i].texts[j] != NULL; j++) {
            double number = number_parse(equal[i].texts[j], equal[i].kind);
            tap_check(number == equal[i].number, "%s: %.17g", equal[i].texts[j], number);
        }
    }
}

static void no_numbers(void)
{
    static const struct {
        enum number_kind kind;
        const char *texts[12];
    } rows[] = {
        {NUMBER_COUNT, {"", "K", "-1", "+1", " 1", "1 ", "1.5", "0x10", "inf", "nan", "1KK"}},
        {NUMBER_COUNT, {"1B", "1kB", "1P", "10^", "10^-1", "1%", "1s", "1e-1", "1M1K", "."}},
        {NUMBER_SIZE, {"1B", "1.5", "1Ki", "1X", "1K1", "0x1P"}},
        {NUMBER_TIME, {"7", "0", "1m1h", "1s1s", "1ms", "0.0001s", "1d12", "1.5", "s"}},
        {NUMBER_RATE, {"1%%", "%", "0.1K", "1e", "0x1p-3"}},
        {NUMBER_PLAIN, {"1%", "1K", "20.5b"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < 12 && rows[i].texts[j] != NULL; j++) {
            double number = number_parse(rows[i].texts[j], rows[i].kind);
            tap_check(isnan(number), "'%s': %g", rows[i].texts[j], number);
        }
}

int main(void)
{
    tap_run("exponents without a plus or leading zeros", as_people_write);
    tap_run("about as large, with units", about);
    tap_run("exact, and read", read_and_written);
    tap_run("what is no number", no_numbers);
    return tap_end();
}
