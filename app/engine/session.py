"""A session answers requests about worlds and advances them step by step."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.engine.answers import answer
from app.engine.lockstep import Lockstep
from app.engine.messages import Arrived, GivenUp, Pause, Request, Run, Save, SpinUpFailed, Step
from app.engine.player import Travel
from app.engine.session_state import Mode, SessionState
from app.engine.simulator import CycleWasGivenUp, SimulationError
from app.scene.edits import Blur, CancelSnowballs, Change, Copy, Keep, Lay, Refine, RollSnowballs, Stroke

# Seconds to rest
WAIT_FOR_KERNELS = 0.05
NOTHING_TO_DO = 0.1

# A spin-up is finished before these.
AFTER_SPIN_UP = (Copy, Keep, Blur, Refine, RollSnowballs, CancelSnowballs, Change, Stroke, Lay)
# Requests that wait until a travel arrives. All others do not concern the worlds of that moment.
ON_ARRIVAL = (*AFTER_SPIN_UP, Pause, Run, Step, Save)


class Session(SessionState):
    """Has no thread of its own: the owner calls `ask` and `step`, as `app.engine.thread` does."""

    # Requests.

    def ask(self, request: Request) -> None:
        """Answer a request now, or as soon as possible."""
        if isinstance(request, Change):
            self.backlog.supersede(request)
        try:
            is_ready = not self.backlog.holds_up(request) and self._can_answer(request)
        except Exception as error:
            self.refuse(request, error)
            return
        if is_ready:
            self._answer_or_refuse(request)
            return
        self.backlog.add(request)
        if isinstance(request, Change) and not self.travel:
            self.say(scenes=self.scenes_asked_for)

    def _answer_or_refuse(self, request: Request) -> None:
        try:
            answer(self, request)
        except Exception as error:
            self.refuse(request, error)
        else:
            self.count(request)

    def _can_answer(self, request: Request) -> bool:
        """Whether a request need not wait for a travel, a spin-up or kernels. Missing kernels are requested."""
        lockstep = self.lockstep
        if self.mode is Mode.TRAVEL:
            return not isinstance(request, ON_ARRIVAL)
        if lockstep is None or self.mode is Mode.FAILED:
            return True
        match request:
            case Change():
                return not self._waits_for_kernels(lockstep, request)
            case Stroke() if self.mode is not Mode.SPIN_UP:
                painted = lockstep.painted_by(request)
                builds = [build for simulator in painted for build in simulator.unprepared_for(request)]
                return not self._missing(builds)
        return self.mode is not Mode.SPIN_UP or not isinstance(request, AFTER_SPIN_UP)

    def _waits_for_kernels(self, lockstep: Lockstep, change: Change) -> bool:
        """Whether a change waits for kernels while cycles continue."""
        scenes = change.applied_to(lockstep.scenes)
        if scenes == lockstep.scenes:
            return False
        if self.mode is Mode.SPIN_UP:
            return True
        if self.pace.is_paused or self.status.state != "running" or lockstep.unprepared():
            return False
        return bool(self._missing([build for _, build in lockstep.unprepared(scenes)]))

    # Steps.

    @property
    def waits_for_first_picture(self) -> bool:
        """Whether kernels wait until a first picture is shown."""
        return self.showing.waits_for_first(self.lockstep)

    def step(self) -> float:
        """Publish what is new and run a cycle. Returns for how many seconds only requests need attention."""
        self.backlog.answer_ready(self._can_answer, self._answer_or_refuse)
        if (progress := self.readiness.compiler.progress) != self.status.compiling:
            self.say(compiling=progress)
        self._publish()
        self.store_held()
        self.showing.load_waves(self.lockstep)
        if self.writer and self.writer.is_due:
            self.write()
        if self._may_run():
            rest = self._advance()
        elif self.waits_for_first_picture:
            rest = WAIT_FOR_KERNELS
        else:
            rest = 0.0 if self._prepare_at_rest() or self.showing.survey_waits(self.lockstep) else NOTHING_TO_DO
        self.backlog.answer_ready(self._can_answer, self._answer_or_refuse)  # before later requests
        return rest

    def write(self) -> None:
        """Write a backup of the newest state while cycles continue.

        It is the end of the branch, even if an earlier moment is shown.
        """
        if self.writer is not None and self.lockstep is not None:
            now = self.travel.before if self.travel else self.leave()
            self.writer.write(self.timeline, self.timeline.end_of(now), self.report)

    def _publish(self) -> None:
        if self.lockstep is None or not self.showing.is_due(self.lockstep):
            return
        try:
            if not self._may_run():  # else the next cycle does it
                self.lockstep.settle_levels()
            self.lockstep.verify()
        except SimulationError as error:
            self.fail(error)
        self.showing.publish(self.lockstep)

    def _may_run(self) -> bool:
        if self.lockstep is None or self.mode is Mode.FAILED or self.waits_for_first_picture:
            return False
        if self.lockstep.snowball_run or self.travel:
            return True
        return self.pace.grants_cycle(self.lockstep)

    # Kernels are compiled while the simulation runs. A cycle runs with all enabled processes or with none: otherwise
    # its bits would depend on how fast a machine compiles. What changes no layer may come before: lakes and sea are
    # shown as soon as their own kernels are ready. A spin-up begins when all are. Cycles that run need not stop for a
    # change that needs other kernels: it waits, and counts from the cycle in which it is made.

    def _advance(self) -> float:
        """Take the next step of a spin-up or a travel, or run a cycle. Returns for how long to rest."""
        lockstep = self.lockstep
        assert lockstep is not None
        try:
            if not self._prepare(lockstep):
                self.say(state="compiling")
                return WAIT_FOR_KERNELS
            if lockstep.spin_up_is_due:
                self._spin_up(lockstep)
                return 0.0
            if self.travel:
                self._travel_on(self.travel, lockstep)
                return 0.0
            begin = time.perf_counter()
            lockstep.advance()
            self.timeline.advanced(lockstep, time.perf_counter() - begin)
            if self.timeline.state_is_due:
                lockstep.verify()
                self.timeline.store_state(lockstep)
            self.tell_of_timeline()
        except CycleWasGivenUp:
            self._give_up_cycle(lockstep)
        except Exception as error:  # such as a kernel that does not compile
            self.fail(error)
        self.showing.is_old = True
        if not lockstep.snowball_run:
            self.pace.count_cycle()
        elif self.mode is Mode.FAILED:
            self.end_snowball_run()
        if not self._may_run():  # else the next cycle does it
            lockstep.settle_levels()
        if any(scene.keys for scene in lockstep.scenes):
            self.say(scenes=self.scenes_asked_for)
        self.say(
            snowball_run=lockstep.snowball_run,
            cycle=lockstep.cycle,
            cycles_per_second=self.pace.cycles_per_second(lockstep.cycle),
            milliseconds=lockstep.milliseconds,
        )
        return 0.0

    def _give_up_cycle(self, lockstep: Lockstep) -> None:
        """A cycle was given up: pause before it, or where a travel had come to."""
        if self.travel:
            self.timeline.travelled(self.travel.moment(lockstep), lockstep)
            self.give_up_travel()
        self.end_snowball_run()
        self.set_paused(True)
        self.report(GivenUp(lockstep.cycle + 1))

    def _prepare_at_rest(self) -> bool:
        """Prepare kernels and spin up while no cycle runs. Returns whether anything changed."""
        lockstep = self.lockstep
        if lockstep is None or self.mode is Mode.FAILED:
            return False
        before = len(lockstep.unprepared())
        try:
            if self._prepare(lockstep) and lockstep.spin_up_is_due:
                self._spin_up(lockstep)
                return True
        except Exception as error:
            self.fail(error)
        return len(lockstep.unprepared()) < before

    def _prepare(self, lockstep: Lockstep) -> bool:
        """Load the ready builds into the simulators. Returns whether all needed builds are ready."""
        unprepared = lockstep.unprepared()
        if not unprepared and self.status.state != "compiling":
            return True
        missing = self._missing([build for _, build in unprepared])
        before = lockstep.water_versions
        for simulator, build in unprepared:
            if build not in missing:
                if self.readiness.failed_elsewhere(build):
                    self.say(state="compiling", message=f"compiling {build}")
                simulator.prepare(build)
                # Lakes and sea are shown at once.
                self.showing.is_old = self.showing.is_old or lockstep.water_versions != before
        if missing:
            return False
        self.say(state=self.pace.state, message="")
        return True

    def _missing(self, builds: Sequence[str]) -> list[str]:
        """The builds whose kernels are not ready. All of them are requested."""
        assert self.lockstep is not None
        return self.readiness.missing(builds, self.lockstep.simulators[0])

    def _spin_up(self, lockstep: Lockstep) -> None:
        """Take the next step of a spin-up. Requests are answered between steps."""
        if lockstep.step_spin_up():
            self.say(state="growing", message="spin-up of water, plants and debris")
            return
        self.showing.is_old = True
        self.timeline.replace_state(lockstep)
        self.say(state=self.pace.state, message="")
        for simulator in lockstep.simulators:
            if simulator.spin_up_failure:
                self.report(SpinUpFailed(simulator.spin_up_failure))

    def _travel_on(self, travel: Travel, lockstep: Lockstep) -> None:
        """Play the next edits of a travel, and end it on arrival."""
        shapes = [world.shape for world in lockstep.worlds]
        self.lockstep = lockstep = travel.edit(lockstep)
        if [world.shape for world in lockstep.worlds] != shapes:
            self.showing.begin(self.showing.first(lockstep))
        if not travel.is_over(lockstep):
            begin = time.perf_counter()
            lockstep.advance()
            self.timeline.travelled(travel.moment(lockstep), lockstep, time.perf_counter() - begin)
            if self.timeline.state_is_due:  # on a long way, so that the next one is short
                lockstep.verify()
                self.timeline.store_state(lockstep)
            self.say(cycle=lockstep.cycle, snowball_run=lockstep.snowball_run)
            return
        self.timeline.travelled(travel.moment(lockstep), lockstep)
        self.travel = None
        self.showing.is_old = True
        self.say(scenes=lockstep.scenes, cycle=lockstep.cycle, snowball_run=lockstep.snowball_run)
        self.tell_of_timeline()
        self.report(Arrived(travel.request, self.showing.publisher.numbers, travel.before))
