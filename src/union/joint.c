#include "union/joint.h"

#include "system/signals.h"

int joint_estimate(const struct bits *const *layers, size_t n, uint64_t step,
                   struct estimate *estimate)
{
    uint64_t end = layers[0]->pages;
    estimate_start(estimate, layers[0]->geometry);
    for (uint64_t page = 0; page < end; page += step * JOINT_RUN) {
        if (signals_pending())
            return -1;
        join_estimate(layers, n, page, end - page < JOINT_RUN ? end - page : JOINT_RUN, estimate);
    }
    return 0;
}
