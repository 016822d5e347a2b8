/* Odds of football results from two averages of goals: a table of probabilities, summed by who wins. */

#define GOALS 8

// kernelcast: global=ceil_div(matches,32)*32 local=32 matches=100 strength=matches odds=matches fill.strength=uniform:0.5:2.5 name=s1
// kernelcast: global=ceil_div(matches,8)*8 local=8 matches=45 strength=matches odds=matches fill.strength=uniform:0.5:2.5 name=s2
// kernelcast: global=512 local=64 matches=500 strength=matches odds=matches fill.strength=uniform:0.5:2.5 name=s3
// kernelcast: global=ceil_div(matches,64)*64 local=64 matches=50000 strength=matches odds=matches fill.strength=uniform:0.5:2.5 name=measure
__kernel void game_of_goals(__global const float2 *restrict strength, __global float3 *restrict odds, const int matches)
{
    const int i = get_global_id(0);
    if (i >= matches)
        return;
    float home[GOALS], away[GOALS];
    home[0] = exp(-strength[i].x);
    away[0] = exp(-strength[i].y);
    for (int goals = 1; goals < GOALS; ++goals) {
        home[goals] = home[goals - 1] * strength[i].x / goals;
        away[goals] = away[goals - 1] * strength[i].y / goals;
    }
    float wins = 0.0f, draws = 0.0f, losses = 0.0f;
    for (int h = 0; h < GOALS; ++h) {
        draws += home[h] * away[h];
        for (int a = 0; a < h; ++a) {
            wins += home[h] * away[a];
            losses += home[a] * away[h];
        }
    }
    odds[i] = (float3)(wins, draws, losses) / (wins + draws + losses);
}
