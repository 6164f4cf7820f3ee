/* Numbers as people write them. */
#include "core/number.h"

#include "tap.h"

#include <string.h>

static void as_people_write(void)
{
    static const struct {
        double number;
        unsigned digits;
        const char *text;
    } numbers[] = {
        {1e-6, 6, "1e-6"},
        {1e-4, 6, "1e-4"},
        {0.000123456, 3, "1.23e-4"},
        {0.001, 6, "0.001"},
        {1e-4, 1, "1e-4"},
        {1.5e-4, 6, "1.5e-4"},
        {1e-12, 6, "1e-12"},
        {3.19291e-7, 3, "3.19e-7"},
        {0.01, 6, "0.01"},
        {1.5e-100, 3, "1.5e-100"},
        {0, 3, "0"},
        {1e20, 3, "1e20"},
        {0.5, 6, "0.5"},
        {-2e-7, 3, "-2e-7"},
        {1e100, 3, "1e100"},
        {12345678, 16, "12345678"},
    };
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tap_check(strcmp(number_text(numbers[i].number, numbers[i].digits, text),
                         numbers[i].text) == 0,
                  "%s: %s", numbers[i].text, text);
}

int main(void)
{
    tap_run("exponents without a plus or leading zeros", as_people_write);
    return tap_end();
}
