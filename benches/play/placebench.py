"""PlaceBench: what memories are worth to a player that comes to the same places again.

    python benches/play/placebench.py --program target/release/memories
    python benches/play/placebench.py --worlds house --memories none,recall --seeds 8
    python benches/play/placebench.py --npm FOLDER --json figures.json --chart figures.svg
    python benches/play/placebench.py --stories FOLDER --worlds jericho-zork1 --turns 200

Each memory plays the same games with the same simple reader: five episodes from nothing, and one with an inherited
memory. docs/guide/placebench.md says what is measured, and what is not.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import chart
import figures
import notebooks
import worlds
from play import Episode, run


def arguments() -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=f"examples:\n{rest}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default=os.environ.get("MEMORIES_PROGRAM", "memories"), help="path of `memories`")
    parser.add_argument("--worlds", help="names, between commas; --list shows them")
    parser.add_argument("--memories", help="names, between commas; --list shows them")
    parser.add_argument("--seeds", type=int, default=3, help="games of each world [default: 3]")
    parser.add_argument("--episodes", type=int, default=5, help="episodes from nothing [default: 5]")
    parser.add_argument("--turns", type=int, default=100, help="turns of an episode at most [default: 100]")
    parser.add_argument("--jobs", type=int, default=2, help="games at a time [default: 2]")
    parser.add_argument("--npm", type=Path, help="folder in which npm installed the peers")
    parser.add_argument("--stories", type=Path, help="folder of story files (.z3 to .z8), played by jericho")
    parser.add_argument("--json", type=Path, help="write each episode to this file")
    parser.add_argument("--chart", type=Path, help="write the figures as a picture (SVG) to this file")
    parser.add_argument("--from", dest="source", type=Path, help="do not play: read what --json wrote")
    parser.add_argument("--list", action="store_true", help="list worlds and memories")
    return parser.parse_args()


def chosen(names: str | None, known: list[str], what: str) -> list[str]:
    wanted = names.split(",") if names else known
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"no {what} `{unknown[0]}`; there are {', '.join(known)}")
    return wanted


def job(task: tuple[argparse.Namespace, str, int]) -> list[Episode]:
    options, name, seed = task
    makers, _ = notebooks.available(options.program, options.npm)
    games, _ = worlds.available(options.stories)
    wanted = {one: makers[one] for one in chosen(options.memories, list(makers), "memory")}
    return run(games[name](seed), wanted, seed, options.episodes, options.turns)


def play(options: argparse.Namespace) -> list[Episode]:
    if shutil.which(options.program) is None:
        sys.exit(f"no program `{options.program}`: build it, and name it by --program")
    makers, absent = notebooks.available(options.program, options.npm)
    games, missing = worlds.available(options.stories)
    for sentence in missing + absent:
        print(sentence, file=sys.stderr)
    names = chosen(options.worlds, list(games), "world")
    chosen(options.memories, list(makers), "memory")
    if options.list:
        print(f"worlds: {', '.join(games)}\nmemories: {', '.join(makers)}")
        sys.exit()
    tasks = [(options, name, seed) for seed in range(1, options.seeds + 1) for name in names]
    began = time.monotonic()
    results: list[Episode] = []
    # A process of its own for each game: the packages start others, and these end with it.
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=1) as pool:
        for task, played in zip(tasks, pool.imap(job, tasks), strict=True):
            results += played
            print(f"{task[1]}, seed {task[2]}: done after {time.monotonic() - began:.0f} s", file=sys.stderr)
    return results


def main() -> None:
    options = arguments()
    if options.source:
        results = [Episode(**one) for one in json.loads(options.source.read_text())]
    else:
        results = play(options)
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in results], indent=0) + "\n")
    if options.chart:
        options.chart.write_text(chart.draw(results))
    print(figures.tables(results))


if __name__ == "__main__":
    main()
