/*
 * landlock - prints the version of Landlock that this kernel has, 0 if it has none.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
#ifdef SYS_landlock_create_ruleset
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1U);
#else
    long version = syscall(444, NULL, (size_t)0, 1U);
#endif
    printf("%ld\n", version < 0 ? 0 : version);
    return 0;
}
