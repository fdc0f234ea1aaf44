"""How good ranked answers are: nDCG at 10, and what a difference between two runs is worth."""

import math
import random

SAMPLES = 2000


def ndcg(relevant, ranked, depth=10):
    """Discounted gain of the first answers, as a share of the most there could be."""
    top = list(dict.fromkeys(ranked))[:depth]
    best = sorted(relevant.values(), reverse=True)[:depth]
    most = gain(best)
    return gain([relevant.get(session, 0) for session in top]) / most if most else 0.0


def gain(grades):
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def interval(differences, seed=11):
    """The 95% interval of a mean difference, from a paired bootstrap."""
    draw = random.Random(seed)
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(SAMPLES))
    return means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES) - 1]


def mean(values):
    return sum(values) / len(values)
