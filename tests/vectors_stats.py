#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The expected figures of unit_stats.c and unit_fit.c, computed a second time and another way:
Python's statistics module where it has the figure, else the definition in the
header written down as plainly as it can be (sort everything, look at every
window). Not run by the tests; run it to see where a number comes from.
"""
import math
import statistics as st
from fractions import Fraction

MASK = 2**64 - 1


def splitmix(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def below(rng, n):
    while True:
        m = (next(rng) >> 32) * n
        if m % 2**32 >= 2**32 % n:
            return m >> 32


def quantile(v, q):
    """Type 7: the inclusive method of statistics.quantiles(), at any q."""
    v = sorted(v)
    at = q * (len(v) - 1)
    low = int(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (at - low) * (v[high] - v[low])


def floor(v):
    v = sorted(v)
    k = min(len(v), max(3, int(0.05 * len(v))))
    windows = [v[i:i + k] for i in range(len(v) - k + 1)][:k + 1]
    dense = [w for w in windows if w[-1] - w[0] <= 0.01 * w[0]]
    return st.median(dense[0] if dense else min(windows, key=lambda w: w[-1] - w[0]))


def run_floor(floors):
    """At most a fifth of the others lie below."""
    return max(f for i, f in enumerate(sorted(floors)) if 5 * i <= len(floors) - 1)


def bootstrap(groups, seed, n):
    rng = splitmix(seed)
    for _ in range(n):
        floors, pool = [], []
        for _ in groups:
            g = groups[below(rng, len(groups))]
            block = round(len(g) ** (1 / 3))
            made = []
            while len(made) < len(g):
                at = below(rng, len(g))
                made += [g[(at + j) % len(g)] for j in range(block)]
            made = made[:len(g)]
            floors.append(floor(made))
            pool += made
        yield run_floor(floors), st.median(pool)


def student(level, df, steps=20000):
    """The t quantile, by Simpson's rule on the density and bisection."""
    c = math.gamma((df + 1) / 2) / math.gamma(df / 2) / math.sqrt(df * math.pi)

    def density(x):
        return c * (1 + x * x / df) ** (-(df + 1) / 2)

    low, high = 0, 1000
    for _ in range(60):
        t = (low + high) / 2
        h = t / steps
        odd = sum(density((2 * i - 1) * h) for i in range(1, steps // 2 + 1))
        even = sum(density(2 * i * h) for i in range(1, steps // 2))
        if 2 * h / 3 * (density(0) + density(t) + 4 * odd + 2 * even) < level:
            low = t
        else:
            high = t
    return low


def line(points):
    """Normal equations with their determinant, in exact fractions; 0: no error known."""
    known = all(e > 0 for _, _, e in points)
    p = [(Fraction(x), Fraction(y), 1 / (Fraction(y) * Fraction(e if known else 1)) ** 2)
         for x, y, e in points]
    s, sx, sy, sxx, sxy = (sum(w * x ** i * y ** j for x, y, w in p)
                           for i, j in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1)))
    delta = s * sxx - sx ** 2
    a, b = (sxx * sy - sx * sxy) / delta, (s * sxy - sx * sy) / delta
    scale = sum(w * (y - a - b * x) ** 2 for x, y, w in p) / (len(p) - 2)
    if known:
        scale = max(scale, 1)
    worst = max(abs(y - a - b * x) / y for x, y, _ in p)
    return [float(a), float(b), math.sqrt(scale * sxx / delta), math.sqrt(scale * s / delta),
            float(100 * worst)]


def main():
    v616 = [(1, 1713), (10, 2071), (100, 3453), (1000, 18804)]
    v617 = [(1, 1775), (10, 2362), (100, 5993), (1000, 44116)]
    print("line, v6.16", line([(x, y, 0) for x, y in v616]))
    print("line, v6.17", line([(x, y, 0) for x, y in v617]))
    print("line, known errors", line([(1, 110, 0.25), (2, 120, 0.125), (4, 144, 0.5),
                                      (16, 250, 0.0625)]))
    print("line, small errors", line([(1, 110, 0.0009765625), (2, 120, 0.001953125),
                                      (4, 144, 0.0009765625), (16, 250, 0.00390625)]))
    v = [3.25, 1.5, 9.75, 4, 4, 2.125, 7.5, 100.25, 5, 6.625]
    print("mean", st.mean(v), "median", st.median(v), "sd", repr(st.stdev(v)))
    print("cv", repr(100 * st.stdev(v) / st.mean(v)))
    cent = st.quantiles(v, n=100, method="inclusive")
    print("p1 p25 p50 p75 p99", [cent[i - 1] for i in (1, 25, 50, 75, 99)], "floor", floor(v))
    rng = splitmix(1234567)
    print("splitmix64(1234567)", [next(rng) for _ in range(5)])
    rng = splitmix(42)
    print("below 10, seed 42", [below(rng, 10) for _ in range(12)])
    for level, df in (.95, 1), (.95, 2), (.95, 3), (.99, 4), (.9875, 5), (.999, 28):
        print("t", level, df, student(level, df))
    rng = splitmix(1)
    print("below 3e9, seed 1", [below(rng, 3000000000) for _ in range(5)])
    order, rng = list(range(10)), splitmix(7)
    for i in range(10, 1, -1):
        j = below(rng, i)
        order[i - 1], order[j] = order[j], order[i - 1]
    print("shuffle of 10, seed 7", order)
    groups = [[float(100 + (i * 37) % 61) for i in range(30)],
              [float(90 + (i * 29) % 53) for i in range(20)],
              [110.0, 95.0, 130.0]] + [[float(97 + 3 * j)] * 2 for j in range(4)]
    print("groups: floors", [floor(g) for g in groups],
          "run", run_floor([floor(g) for g in groups]))
    for f, m in bootstrap(groups, 2026, 5):
        print("bootstrap", f, m)


main()
