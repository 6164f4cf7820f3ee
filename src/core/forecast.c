#include "core/forecast.h"

#include <math.h>

int forecast_make(struct forecast *forecast, const struct filter_plan *plan)
{
    *forecast = (struct forecast){.plan = *plan, .layers = growth_first_layers(plan)};
    if (growth_first(plan, &forecast->layer) != 0)
        return -1;
    forecast->capacity = plan->window ? forecast->layer.capacity * forecast->layers
                                      : (uint64_t)round(growth_sized_for(plan, &forecast->layer));
    return 0;
}

static double rate_of_generation(struct layer_plan layer, double keys)
{
    layer.capacity = (uint64_t)keys;
    return sizing_rate(layer.geometry, layer.pages, growth_lines_when_full(&layer));
}

double forecast_rate(const struct forecast *forecast, double keys)
{
    const struct layer_plan *layer = &forecast->layer;
    double each = (double)layer->capacity, rate = 0;
    if (!forecast->plan.window)
        return sizing_rate(layer->geometry, layer->pages, keys);
    double full = rate_of_generation(*layer, each);
    for (unsigned i = 0; i < forecast->layers && keys > 0; i++, keys -= each)
        rate = sizing_joint_rate(rate, keys < each ? rate_of_generation(*layer, keys) : full);
    return rate;
}

double forecast_bits_per_key(const struct forecast *forecast)
{
    return sizing_bits_per_key(forecast->layer.pages * forecast->layers,
                               (double)forecast->capacity);
}

double forecast_classic_rate(const struct forecast *forecast)
{
    struct geometry geometry = forecast->layer.geometry;
    return sizing_classic_rate(forecast_bits_per_key(forecast) / geometry_cell_bits(geometry),
                               geometry_hashes(geometry));
}

bool forecast_grows(const struct forecast *forecast)
{
    return growth_rate(&forecast->plan, forecast->layers) > 0;
}
