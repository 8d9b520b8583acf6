"""`python -m tests.soak`: shake worlds for minutes or hours, and tell whether they held."""

import argparse
import contextlib
import faulthandler
import json
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.harness.percentiles import percentile
from tests.soak.faults import FAULTS, Fault, kill_and_wait, killable
from tests.soak.ledger import Sent
from tests.soak.verdict import drained, judge
from tests.soak.watch import Watch
from tests.soak.worlds import DataCentre, Home, World
from tests.support.postgres import new_server
from trackrecord.process.logs import configure_logs
from trackrecord.wire.outcome import encode_body
from trackrecord_cli.main import NO

MINUTES = 55.0
WANTED_KILLS, WANTED_HOSTILE = 1_000, 1_000_000
# Somewhat faster: while Redis is away, none is acknowledged.
_HOSTILE_A_MINUTE = 1.1 * WANTED_HOSTILE / MINUTES
_DISK = "700m"
_TICK_S = 0.5
# Of strikes that are not kills, as long as such faults are due.
_SHARE_OF_FAULTS = 0.25
_REPORTS_A_TICK = 10
_MOST_HOSTILE_AT_ONCE = 500
_MOST_HOSTILE_A_TICK = 2_000
_HOSTILE_OVER_HTTP = 2
_FORGET_EVERY_S = 30.0
_CALM_S = 300.0
_IDLE_S, _ASK_EVERY_S = 70.0, 8.0
_SOCKETS = shutil.ignore_patterns("*.sock")


class Record:
    """The faults of a run, and the seconds until the world was well after each."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.tried: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def note(self, name: str, seconds: float | None) -> None:
        """Count a fault, and the seconds until the world was well; None if it never was."""
        with self._lock:
            self.tried[name] += 1
            if seconds is not None:
                self.seconds[name].append(seconds)

    def kills(self) -> int:
        """Return how many processes were killed while they lived, and came back."""
        return sum(len(each) for name, each in self.seconds.items() if name.startswith("SIGKILL"))


class Shaker(threading.Thread):
    """Strike one world, again and again, and wait until it has learnt something after each."""

    def __init__(self, world: World, record: Record, over: threading.Event) -> None:
        super().__init__(name=f"shaking {world.name}")
        self._world = world
        self._record = record
        self._over = over
        self._next: dict[str, float] = {}

    def run(self) -> None:
        """Strike until it is over."""
        while not self._over.wait(self._world.chance.uniform(0.1, 0.6)):
            try:
                with self._world.undisturbed:
                    self._strike()
            except Exception as error:  # noqa: BLE001 - the run goes on, and ends as failed
                self._world.fail(f"a fault could not be made: {error!r}")

    def _strike(self) -> None:
        chance = self._world.chance
        due = [each for each in FAULTS if each.applies(self._world) and self._is_due(each)]
        if due and chance.random() < _SHARE_OF_FAULTS:
            fault = chance.choice(due)
            self._next[fault.name] = time.monotonic() + fault.every_s * chance.uniform(0.7, 1.3)
            started = time.monotonic()
            fault.strike(self._world)
            lasted = time.monotonic() - started
            self._settle([fault.name], started + lasted)
            return
        kinds = killable(self._world)
        if not kinds:
            self._world.wait(lambda: True)
            return
        number = min(len(kinds), chance.choices((1, 2, 3), (4, 3, 2))[0])
        chosen = chance.sample(sorted(kinds), number)
        started = time.monotonic()
        back = kill_and_wait(self._world, {kind: chance.choice(kinds[kind]) for kind in chosen})
        if back:
            self._settle([f"SIGKILL of {kind}" for kind in back], started)

    def _is_due(self, fault: Fault) -> bool:
        if fault.name not in self._next:
            self._next[fault.name] = time.monotonic() + fault.every_s * self._world.chance.random()
        return time.monotonic() >= self._next[fault.name]

    def _settle(self, names: list[str], since: float) -> None:
        learnt = self._world.probe()
        if learnt is None and not self._world.stopping.is_set():
            self._world.fail(f"nothing is learnt after: {', '.join(names)}")
        for name in names:
            self._record.note(name, None if learnt is None else time.monotonic() - since)


class Agents(threading.Thread):
    """The agents of one world: honest ones on every way in, or hostile ones.

    Args:
        world: theirs.
        over: set when they end.
        hostile_a_minute: how many hostile entries they send; 0 for honest agents.
    """

    def __init__(
        self, world: World, over: threading.Event, *, hostile_a_minute: float = 0.0
    ) -> None:
        super().__init__(name=f"agents of {world.name}")
        self._world = world
        self._a_second = hostile_a_minute / 60
        self._over = over
        self._unposted: list[dict[str, Any]] = []

    def run(self) -> None:
        """Report until it is over."""
        started = time.monotonic()
        while not self._over.wait(_TICK_S):
            try:
                if self._a_second:
                    self._attack(time.monotonic() - started)
                    continue
                self._report()
            except Exception as error:  # noqa: BLE001 - the run goes on, and ends as failed
                self._world.fail(f"an agent failed: {error!r}")

        if not self._world.wait(self._post):
            self._world.fail("the front door takes no outcomes")

    def _report(self) -> None:
        world = self._world
        world.send(world.fleet.reports(_REPORTS_A_TICK))
        for fields in world.fleet.outcomes(2):
            body = encode_body(fields)
            if world.publisher.publish(fields) is None:
                world.fail("publish() took an outcome not")
            world.ledger.acknowledge([Sent("body", body)])
        self._unposted += world.fleet.outcomes(1)
        self._post()

    def _post(self) -> bool:
        """Post what is not acknowledged yet; return whether all of it is now."""
        world = self._world
        with contextlib.suppress(httpx.HTTPError, OSError), world.door() as door:
            while self._unposted:
                fields = self._unposted[0]
                answer = door.post("/api/v1/outcomes", json=fields)
                if answer.status_code == 202:
                    world.ledger.happened["over HTTP"] += 1
                    world.ledger.acknowledge([Sent("body", encode_body(fields))])
                    del self._unposted[0]
                    continue
                if answer.status_code != 503:
                    world.fail(f"the front door answers {answer.status_code}: {answer.text[:200]}")
                break
        return not self._unposted

    def _attack(self, passed_s: float) -> None:
        world = self._world
        behind = min(int(self._a_second * passed_s) - world.ledger.hostile, _MOST_HOSTILE_A_TICK)
        for sent in range(0, behind, _MOST_HOSTILE_AT_ONCE):
            world.attack(min(behind - sent, _MOST_HOSTILE_AT_ONCE))
        with contextlib.suppress(httpx.HTTPError, OSError), world.door() as door:
            for body in world.attacker.bodies(_HOSTILE_OVER_HTTP):
                path = world.chance.choice(("/v1/traces", "/api/v1/outcomes", "/hooks/quiet"))
                kind = world.chance.choice(("application/json", "application/x-protobuf"))
                answer = door.post(path, content=body, headers={"content-type": kind})
                world.ledger.happened["hostile over HTTP"] += 1
                if answer.status_code >= 500 and answer.status_code != 503:
                    world.fail(f"the front door answers {answer.status_code} to {body[:100]!r}")


class Leavers(threading.Thread):
    """Sources of one world that come, are learnt, and are forgotten, one after the other."""

    def __init__(self, world: World, over: threading.Event) -> None:
        super().__init__(name=f"leavers of {world.name}")
        self._world = world
        self._over = over

    def run(self) -> None:
        """Forget one after the other until it is over."""
        while not self._over.wait(_FORGET_EVERY_S):
            try:
                self._forget()
            except Exception as error:  # noqa: BLE001 - the run goes on, and ends as failed
                self._world.fail(f"a leaver failed: {error!r}")

    def _forget(self) -> None:
        world = self._world
        whose, sent = world.fleet.leavers("shop")
        world.send(sent)
        project, source = whose
        if not world.learns(project, [json.loads(each.body)["outcome_id"] for each in sent]):
            world.fail(f"the outcomes of {source} are not learnt")
            return
        arguments = ("forget", "--source", source, "--project", project, "--yes")
        interrupted = False

        def is_forgotten() -> bool:
            # As the message says: the same command again finishes it. Where only the answer of the
            # one before was lost, there is nothing left to forget: all was on record.
            nonlocal interrupted
            status = world.command(*arguments)
            if status == 0 or (status == NO and interrupted):
                return True
            interrupted = True
            world.ledger.happened["forgetting interrupted"] += 1
            return False

        is_over = world.wait(is_forgotten)
        if not is_over:
            # On a busy machine the next fault comes before it has ended, each time.
            with world.undisturbed:
                is_over = world.wait(is_forgotten)
        if not is_over:
            world.fail(f"{' '.join(arguments)} does not succeed")
        world.ledger.forget(whose)
        world.ledger.happened["forgotten"] += 1


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of its own that can be filled; None where none may be mounted."""
    folder.mkdir()
    mount = shutil.which("mount") or "mount"
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={_DISK}", "none", str(folder)],
        check=False, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        print("no disk can be mounted here: files are limited instead of a disk filled")
        yield None
        return
    try:
        yield folder
    finally:
        shutil.copytree(folder / "home", folder.parent / "kept", ignore=_SOCKETS)
        subprocess.run([shutil.which("umount") or "umount", "-l", str(folder)], check=True)


def shake(
    folder: Path, seed: str, minutes: float, over: threading.Event, stopping: threading.Event
) -> int:
    """Run everything; return the exit status."""
    with contextlib.ExitStack() as opened:
        disk = opened.enter_context(small_disk(folder / "disk"))
        worlds: list[World] = [
            Home("laptop", folder / "a", seed, stopping),
            Home("small disk", folder / "b", seed, stopping, disk=disk),
        ]
        postgres = opened.enter_context(new_server())
        worlds.append(DataCentre("servers", folder / "c", seed, stopping, postgres))
        record, watch = Record(), Watch(worlds)
        for world in worlds:
            opened.callback(world.stop)
            world.start()
        for world in worlds:
            if world.probe() is None:
                world.fail("it does not start")
                return report(worlds, record, watch, 0.0, minutes)
        started = time.monotonic()
        a_minute = _HOSTILE_A_MINUTE / len(worlds)
        threads: list[threading.Thread] = [Shaker(each, record, over) for each in worlds]
        threads += [Agents(each, over) for each in worlds]
        threads += [Leavers(each, over) for each in worlds]
        threads += [Agents(each, over, hostile_a_minute=a_minute) for each in worlds]
        watch.start()
        for thread in threads:
            thread.start()
        while not over.wait(10.0):
            passed = time.monotonic() - started
            hostile = sum(each.ledger.hostile for each in worlds)
            print(f"{passed / 60:5.1f} min  {record.kills()} kills  {hostile} hostile", flush=True)
            if passed > minutes * 60:
                over.set()
        for thread in threads:
            thread.join()
        took_s = time.monotonic() - started
        watch.end()
        for world in worlds:
            world.set_clock(0.0)
        calm = [world for world in worlds if drained(world, _CALM_S)]
        stay_idle(calm)
        for world in calm:
            judge(world, folder / f"replay-{world.name}".replace(" ", "-"))
        return report(worlds, record, watch, took_s / 60, minutes)


def stay_idle(worlds: list[World]) -> None:
    """Leave worlds alone for more than a minute, and ask again and again whether they live."""
    until = time.monotonic() + _IDLE_S
    while time.monotonic() < until:
        time.sleep(_ASK_EVERY_S)
        for world in worlds:
            world.ledger.happened["status asked when idle"] += 1
            if world.command("status"):
                world.fail("`status` says of an idle world that it is dead")


def report(worlds: list[World], record: Record, watch: Watch, took: float, wanted: float) -> int:
    """Print what was done and what came of it; return the exit status."""
    print(f"\n{'fault':<34} {'times':>6} {'well again':>11} {'p50 s':>7} {'p99 s':>7}")
    for name, times in sorted(record.tried.items()):
        seconds = record.seconds[name]
        spread = [f"{percentile(seconds, share):7.1f}" if seconds else "" for share in (0.5, 0.99)]
        print(f"{name:<34} {times:>6} {len(seconds):>11} {spread[0]:>7} {spread[1]:>7}")
    print(f"\n{'process':<34} {'MB, middle third':>17} {'last third':>11}")
    for (name, kind), (before, after) in sorted(watch.thirds().items()):
        print(f"{f'{name}: {kind}':<34} {before:>17.1f} {after:>11.1f}")
    print(f"\n{'file, largest':<34} {'MB':>8}")
    for (name, kind), size in sorted(watch.largest.items()):
        print(f"{f'{name}: {kind}':<34} {size:>8.2f}")
    for world in worlds:
        counts = {"acknowledged": len(world.ledger.entries), "hostile": world.ledger.hostile,
                  "unsure": world.ledger.unsure, **world.ledger.happened}  # fmt: skip
        print(
            f"\n{world.name}: " + ", ".join(f"{number} {what}" for what, number in counts.items())
        )
    hostile = sum(each.ledger.hostile for each in worlds)
    failures = [text for world in worlds for text in world.failures] + watch.failures()
    print(
        f"\n{record.kills()} kills and {hostile} hostile bodies in {took:.1f} minutes; "
        f"at this rate {record.kills() / max(took, 0.01) * MINUTES:.0f} and "
        f"{hostile / max(took, 0.01) * MINUTES:.0f} in {MINUTES:g}"
    )
    if took >= MINUTES and (record.kills() < WANTED_KILLS or hostile < WANTED_HOSTILE):
        failures.append(f"fewer than 1,000 kills or 1,000,000 hostile bodies in {took:.1f} minutes")
    if took < wanted:
        print(f"it was stopped before the {wanted:g} minutes were over")
    for text in failures:
        print(f"DIFFERENCE {text}")
    print("nothing lost, nothing doubled, equal to a clean replay" if not failures else "NOT well")
    return 1 if failures else 0


def main() -> int:
    """Read the arguments, run, and keep what is needed to look into a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long it shakes them")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of everything random")
    arguments = parser.parse_args()
    over = threading.Event()
    stopping = threading.Event()

    def end(_number: int, _frame: object) -> None:
        """The first time everything is compared as it is; the second time it ends at once."""
        (stopping if over.is_set() else over).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    configure_logs("error")
    faulthandler.register(signal.SIGUSR1)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    print(f"seed {arguments.seed}, {arguments.minutes:g} minutes, in {folder}", flush=True)
    status = shake(folder, arguments.seed, arguments.minutes, over, stopping)
    if status:
        print(f"the logs are in {folder}; the same again: --seed {arguments.seed}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
