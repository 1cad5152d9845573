"""Derived gradients of random programs, compared with the dual-number oracle.

Each is derived as value_and_grad; some, chosen by their texts, as grad and vjp too, and all of them
in `make test-full`.

`S2SAD_PROGRAMS=5000 pytest tests/test_random_programs.py -n 8` looks further than every run does.
"""

import collections
import json
import os
import traceback

import programs
import pytest
from sampling import is_of_every_day

COUNT = int(os.environ.get("S2SAD_PROGRAMS", "1000"))
CHUNKS = min(40, COUNT)


def seeds(chunk):
    """Return the seeds of a chunk."""
    return range(chunk, COUNT, CHUNKS)


def ways_of_every_day(text):
    """Return in what ways a program is derived every day, besides by value_and_grad."""
    shares = {"grad": 8, "vjp": 4}
    return [way for way in programs.WAYS if is_of_every_day(f"{way} of {text}", shares[way])]


def verdict(text, ways=programs.WAYS):
    """Return what comes of a program: "", "refused" or what went wrong, in a word; and details."""
    import s2sad

    module = programs.load(text)
    try:
        return programs.trouble(s2sad, module, module.WRT, ways=ways)
    except s2sad.Error as error:
        if type(error).__name__ == "InternalError":
            return "InternalError", traceback.format_exc()
        return "refused", f"{type(error).__name__}: {error}"
    except Exception as error:
        return type(error).__name__, traceback.format_exc()
    finally:
        programs.unload(module)


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory):
    """Return what gives the seeds of a chunk with what came of each; workers share what they found.

    Under xdist every worker has a folder of its own in the folder of the run.
    """
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def of(chunk):
        path = folder / f"verdicts-{chunk}.json"
        if not path.exists():
            texts = {seed: programs.generate(seed).text for seed in seeds(chunk)}
            found = [(seed, *verdict(t, ways_of_every_day(t))) for seed, t in texts.items()]
            written = own / path.name
            written.write_text(json.dumps(found))
            written.replace(path)
        return json.loads(path.read_text())

    return of


def reduced(text, word):
    """Return the smallest text that goes wrong in the same way and still is a fair test."""

    def still_fails(smaller):
        return programs.fair(smaller) and verdict(smaller)[0] == word

    return programs.shrink(text, still_fails, tries=1500)


def derived_source(text):
    """Return the source derived from a program, or why there is none."""
    import s2sad

    module = programs.load(text)
    try:
        return s2sad.grad(module.f, wrt=module.WRT).source(*module.arguments())
    except Exception:
        return traceback.format_exc(limit=-3)
    finally:
        programs.unload(module)


def report(failures):
    """Describe failures: the first of them in full, with the shrunk program and its derivative."""
    seed, word, details = failures[0]
    small = reduced(programs.generate(seed).text, word)
    others = ", ".join(f"{other} ({kind})" for other, kind, _ in failures[1:])
    return "\n".join(
        [
            f"program {seed}: {word}: {details}",
            "shrunk to",
            small,
            verdict(small)[1],
            "derived source",
            derived_source(small),
            f"also: {others or 'none'}",
            f"whole program: python tests/programs.py --show {seed}",
        ]
    )


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_gradients_agree_with_the_oracle(chunk, verdicts):
    failures = [entry for entry in verdicts(chunk) if entry[1] not in ("", "refused")]
    if failures:
        pytest.fail(report(failures), pytrace=False)


def refusal_table(refused):
    """Return the constructs that occur most above their rate in refused programs; the reasons."""
    everywhere = programs.rates(programs.generate(seed) for seed in range(COUNT))
    there = programs.rates(programs.generate(seed) for seed, _ in refused)
    rows = sorted(everywhere, key=lambda c: everywhere[c] - there[c])[:8]
    counts = collections.Counter(details.splitlines()[0] for _, details in refused)
    lines = [f"{there[c]:6.1%} of the refused, {everywhere[c]:6.1%} of all: {c}" for c in rows]
    lines += [f"{number:4}  {reason}" for reason, number in counts.most_common()]
    lines += [f"seeds {[seed for seed, _ in refused]}"]
    return "\n".join(lines)


def test_refusals_are_rare(verdicts):
    everything = [entry for chunk in range(CHUNKS) for entry in verdicts(chunk)]
    refused = [(seed, details) for seed, word, details in everything if word == "refused"]
    if refused:
        print(f"{len(refused)} of {COUNT} refused\n{refusal_table(refused)}")
    assert len(refused) < 0.05 * COUNT, refusal_table(refused)
