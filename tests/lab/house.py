"""The whole house beside a real agent: board, record, inbox, rings and ledger must tell the same story at every step.

Played by live.py (`live.py --claude PATH --codex PATH house [SCENARIO ..]`). The hooks are those of
`ring-hook install --with session,plan,notify`. Three outlets ring: `probe`, a program that keeps what it is given; `pane`, OSC 9 to
the session's own pane; `bar`, a message of tmux. Each step says what must be seen; a line each for what was seen otherwise.
"""
import json
import os
import re
import signal
import statistics
import subprocess
import time

import plans

ALL = {}
MIN_SECONDS = 20  # completed turns shorter than this do not ring
NOTICE_MS = 6000  # Claude tells of an open permission prompt only after so long; who answers before is never rung
SILENCE_MS = 11000  # Codex does not tell of it at all
RING_MS = 2000
SETTLE_MS = 2000  # the entry for an end of a turn rings after so long, when the turn's row is stored

CONFIG = """[notify]
completed_min_seconds = %d
%%s
[[notify.outlet]]
name = "probe"
type = "command"
argv = ["/bin/bash", "-c", 'read -r -d "" it; printf "%%%%s\\t%%%%s\\n" "$EPOCHREALTIME" "$it" >> "$0"', "@PROBE@"]
[[notify.outlet]]
name = "pane"
type = "osc9"
[[notify.outlet]]
name = "bar"
type = "tmux"
""" % MIN_SECONDS


def house(about, agent="claude", wait="60s", config="", **spec):
    def register(play):
        ALL[play.__name__] = dict(spec, about=about, play=play, agent=agent, wait=wait, config=config)
        return play
    return register


def now_ms():
    return int(time.time() * 1000)


class Views:
    """What our programs say, each asked for itself."""

    def __init__(self, lab, folder, out):
        self.lab, self.folder, self.out = lab, folder, out
        self.state = os.path.join(lab.home, ".local/state/ring")
        self.probe = os.path.join(out, "probe.tsv")
        self.wrong, self.steps, self.lags, self.told = [], 0, [], []
        open(self.probe, "w", encoding="utf-8").close()

    def run(self, program, *args):
        env = {"HOME": self.lab.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}
        return subprocess.run([os.path.join(self.folder, program), *args], env=env, capture_output=True, text=True, timeout=60)

    def ask(self, program, *args):
        done = self.run(program, "--format", "json", *args)
        if done.returncode:
            raise RuntimeError("%s %s: %s" % (program, " ".join(args), done.stderr.strip()))
        return json.loads(done.stdout)

    def rings(self):
        """(ms, message) of the probe."""
        with open(self.probe, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("\t", 1) for line in file if line.strip()]
        return [(int(float(at) * 1000), json.loads(text)) for at, text in lines]

    def ledger(self):
        try:
            with open(os.path.join(self.state, "notify", "ledger.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {"items": {}}

    def records(self):
        return {s["id"]: self.ask("ring-session", "show", s["id"]) for s in self.ask("ring-session", "list")}

    def row(self, pid):
        rows = [r for r in self.ask("ring-scan", "--all")["sessions"] if r["process"] and r["process"]["pid"] == pid]
        return rows[0] if rows else None

    # -- one step ----------------------------------------------------------------------------------

    def mark(self):
        """From here on counts what is new."""
        self.begin_rings = len(self.rings())
        self.begin_rows = len(self.ask("ring-notify", "list", "--all")["notifications"])

    def look(self, pid):
        row = self.row(pid)
        status = row["status"] if row else "ended"
        kinds = [row["waiting"]["kind"]] if row and status == "waiting" else []
        session = row and next((name for name, r in self.records().items() if r.get("agent_session_id") == row["session_id"]), None)
        record = self.records().get(session) if session else None
        self.key = row["key"] if row else getattr(self, "key", None)
        fresh = self.rings()[self.begin_rings:]
        inbox = self.ask("ring-notify", "list", "--all")["notifications"]
        items = {k: i for k, i in self.ledger()["items"].items() if i["session"] == self.key and not k.startswith("turn:")}
        return {
            "board": " ".join([status] + kinds),
            "rings": sorted(message_word(m) for _, m in fresh),
            "rows": [n["kind"] for n in inbox[:len(inbox) - self.begin_rows]][::-1],
            "open": sorted(i["kind"] for i in items.values() if i["closed_ms"] is None),
            "turn": bool(record and record.get("turn")),
            "proposal": (record.get("proposal") or {}).get("status") if record else None,
        }, fresh

    def step(self, name, pid, hold=2.0, lag=0, ring_from=None, patience=5.0, **want):
        """Until all views show what they should, and `hold` seconds on they still do. A ring may come `lag` ms and two seconds after
        `ring_from`."""
        self.steps += 1
        began = now_ms()
        end = time.monotonic() + patience + lag / 1000
        while True:
            seen, fresh = self.look(pid)
            differs = {k: (want[k], seen[k]) for k in want if want[k] != seen[k]}
            if not differs or time.monotonic() > end:
                break
            time.sleep(0.1)
        took = now_ms() - began
        self.note(name, differs, took, seen)
        if not differs:
            time.sleep(hold)
            seen, fresh = self.look(pid)
            self.note(name + ", %.0f s later" % hold, {k: (want[k], seen[k]) for k in want if want[k] != seen[k]}, hold * 1000, seen)
        told = {"step": name, "rings": [message_word(m) for _, m in self.rings()], "open": seen["open"],
                "rows": [n["kind"] for n in self.ask("ring-notify", "list", "--all")["notifications"]][::-1]}
        self.told.append((now_ms(), told))
        if ring_from:
            for at, message in fresh:
                late = at - ring_from - lag
                self.lags.append((message_word(message), late))
                if late > RING_MS:
                    self.problem(name, "ring %s came %.1f s after its cause" % (message_word(message), (late + lag) / 1000))
        self.outlets(name)
        return fresh

    def note(self, name, differs, took, seen):
        with open(os.path.join(self.out, "steps.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({"t_ms": now_ms(), "step": name, "took_ms": took, "seen": seen, "differs": differs}) + "\n")
        for view, (wanted, got) in differs.items():
            self.problem(name, "%s: expected %s, SEEN %s" % (view, wanted, got))

    def problem(self, name, text):
        self.wrong.append("%s: %s" % (name, text))

    def outlets(self, name):
        """Each item that the probe has, the others have too, and nothing is left claimed, failed or to be tried again."""
        hidden = self.lab.scenario.get("hidden")
        for key, item in self.ledger()["items"].items():
            states = {n: (d["state"], d["ring"]) for n, d in item["to"].items() if not (hidden and n == "pane")}
            if len(set(states.values())) > 1 or {s for s, _ in states.values()} & {"retry", "failed", "unconfirmed"}:
                if not (item["closed_ms"] or "claimed" in {s for s, _ in states.values()}):
                    self.problem(name, "outlets of %s disagree: %s" % (key, states))

    def nothing_twice(self):
        seen = set()
        for _, message in self.rings():
            mark = (message["id"], message["ring"])
            if message["kind"] != "summary" and mark in seen:
                self.problem("end", "twice: %s" % (mark,))
            seen.add(mark)
        turns = [n["turn_id"] for n in self.ask("ring-notify", "list", "--all")["notifications"]]
        if len(turns) != len(set(turns)):
            self.problem("end", "two rows of one turn")

    def hook_errors(self):
        path = os.path.join(self.state, "hook-errors.log")
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, encoding="utf-8") as file:
                self.problem("end", "hook-errors.log: " + file.read().strip()[:400])


def message_word(message):
    return message["kind"] + ("" if not message["ring"] else " again")


# -- our hooks -------------------------------------------------------------------------------------------


class Hooks:
    """Installed, seen to be there, measured, and taken out again."""

    def __init__(self, views, install, agent, path):
        self.views, self.install, self.agent, self.path = views, install, agent, path
        self.times = os.path.join(views.out, "hook-times.txt")

    def bytes(self):
        with open(self.path, "rb") as file:
            return file.read()

    def put_in(self, *more):
        self.foreign()
        self.before = self.bytes()
        self.install(*more)
        self.installed = self.bytes()
        self.install(*more)
        if self.bytes() != self.installed:
            self.views.problem("install", "a second install changes the settings")
        told = self.views.run("ring-hook", "status").stdout
        if "complete with" not in told:
            self.views.problem("install", "status says: " + told.strip()[:200])
        self.told = told.strip()
        self.measure()

    def foreign(self):
        """Somebody's hooks that do nothing: they must stay, and they tell what a hook costs on this machine at least."""
        try:
            settings = json.loads(self.bytes())
        except FileNotFoundError:
            settings = {}
        entry = {"type": "command", "command": "/bin/true --emit | /bin/true hook", "timeout": 5}
        for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
            settings.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [dict(entry)]})
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(settings, file, indent=1)

    def measure(self):
        """Each entry tells how long it took. Not those that wait for a person: a shell between would hear the agent's signals."""
        settings = json.loads(self.installed)
        for event, groups in settings["hooks"].items():
            for group in groups:
                for entry in group["hooks"]:
                    command = entry["command"]
                    if not re.search(r"/(ring-(hook|plan|notify)|true) ", command) or " --wait " in command:
                        continue
                    which = "+".join(sorted(set(re.findall(r"/ring-(\w+)", command)))) or "nothing"
                    # the log is opened before the clock starts, so that only the entry lies between
                    entry["command"] = "/bin/bash -c 'S=$EPOCHREALTIME; %s; R=$?; echo \"$S $EPOCHREALTIME $R %s %s\" >> %s; exit $R'" % (
                        command, event, which, self.times)
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(settings, file, indent=1)
        self.measured = self.bytes()

    def take_out(self):
        """Back to what was installed, then out with it."""
        if self.bytes() == self.measured:
            with open(self.path, "wb") as file:
                file.write(self.installed)
        else:
            self.views.problem("end", "the agent has changed its settings meanwhile")
        done = self.views.run("ring-hook", "remove", "--agent", self.agent)
        if done.returncode:
            self.views.problem("remove", done.stderr.strip())
        if self.bytes() != self.before:
            self.views.problem("remove", "the settings are not what they were")

    def spans(self):
        """(event, programs, ms) of each run; a status other than 0 is a problem."""
        if not os.path.exists(self.times):
            return []
        found = []
        with open(self.times, encoding="utf-8") as file:
            for line in file:
                begin, end, status, event, which = line.split()
                if status != "0":
                    self.views.problem("hooks", "%s of %s ended with %s" % (which, event, status))
                found.append((event, which, (float(end) - float(begin)) * 1000))
        return found


def measures(spans):
    """Median and p90 by programs."""
    kinds = sorted({which for _, which, _ in spans})
    for which in kinds:
        ms = sorted(m for _, w, m in spans if w == which)
        yield "%s: n %d, median %.1f ms, p90 %.1f ms, worst %.1f ms" % (which, len(ms), statistics.median(ms), ms[int(len(ms) * 0.9)], ms[-1])


# -- Claude Code ------------------------------------------------------------------------------------------


def bash(command):
    return {"tool": "Bash", "input": {"command": command, "description": "Run a command"}}


QUESTION = {"tool": "AskUserQuestion", "input": {"questions": [{
    "question": "Which colour do you like?", "header": "Colour", "multiSelect": False,
    "options": [{"label": "Red", "description": "A warm one"}, {"label": "Blue", "description": "A cold one"}]}]}}
LONG_MS = (MIN_SECONDS + 2) * 1000


def script(lab, *turns, lane="main"):
    """What the service answers from now on."""
    lane = next(x for x in lab.mock.lanes if x.name == lane)
    with lab.mock.lock:
        lane.turns, lane.next = list(turns), 0


def ask(lab, s, text, *turns, lane="main"):
    lab.views.mark()
    script(lab, *turns, lane=lane)
    s.submit(text)


def waiting(s):
    """The moment at which the agent's dialog was on the screen."""
    s.wait_state("WAITING", 30)
    return now_ms()


def idle(s):
    s.wait_state("IDLE", 60)
    return now_ms()


def run_short(lab, s):
    ask(lab, s, "print a word", bash("echo allowed"), {"text": "It printed a word."})
    idle(s)
    lab.views.step("short turn", s.pid, hold=4, board="idle", rings=[], rows=["task.completed"], open=[], turn=False)


def answered_soon(lab, s):
    ask(lab, s, "make a file", bash("touch soon.txt"), {"text": "Made."})
    waiting(s)
    lab.views.step("permission prompt", s.pid, hold=0, board="waiting permission", rings=[], rows=[], turn=True)
    time.sleep(1)
    s.answer("1", why="approved")
    idle(s)
    lab.views.step("permission answered before it rings", s.pid, hold=7, board="idle", rings=[], rows=["task.completed"], open=[], turn=False)


def answered_late(lab, s):
    ask(lab, s, "make another file", bash("touch late.txt"), {"text": "Made."})
    since = waiting(s)
    lab.views.step("permission prompt that stays", s.pid, lag=NOTICE_MS, ring_from=since, hold=3, board="waiting permission",
                   rings=["wait.permission"], rows=[], open=["wait.permission"], turn=True)
    s.answer("1", why="approved")
    idle(s)
    lab.views.step("permission answered", s.pid, hold=3, board="idle", rings=["wait.permission"], rows=["task.completed"], open=[], turn=False)


def denied(lab, s):
    ask(lab, s, "make a third file", bash("touch third.txt"), {"text": "Not reached."})
    since = waiting(s)
    lab.views.step("permission prompt to deny", s.pid, lag=NOTICE_MS, ring_from=since, board="waiting permission", rings=["wait.permission"],
                   rows=[], open=["wait.permission"], turn=True)
    s.answer(s.digit("No"), state="IDLE", why="denied; the turn ends here")
    time.sleep(2)
    lab.views.run("ring-notify", "deliver")
    lab.views.step("permission denied", s.pid, hold=1, board="idle", rings=["wait.permission"], rows=[], open=[])
    time.sleep(max(0, (since + NOTICE_MS + 33000 - now_ms()) / 1000))
    lab.views.run("ring-notify", "deliver")
    lab.views.step("a repeat's time after the denial", s.pid, hold=1, board="idle", rings=["wait.permission"], rows=[], open=[])


def approved_and_long(lab, s):
    ask(lab, s, "watch the log", bash("touch long.txt; timeout 60 tail -f log.txt"), {"text": "Not reached."})
    since = waiting(s)
    lab.views.step("permission prompt for a long command", s.pid, lag=NOTICE_MS, ring_from=since, hold=1, board="waiting permission",
                   rings=["wait.permission"], rows=[], open=["wait.permission"], turn=True)
    s.answer("1", why="approved")
    time.sleep(max(0, (since + NOTICE_MS + 33000 - now_ms()) / 1000))
    lab.views.run("ring-notify", "deliver")
    lab.views.step("a repeat's time after the leave, the command runs", s.pid, hold=1, board="working", rings=["wait.permission"], rows=[], open=[],
                   turn=True)
    s.answer("Escape", state="IDLE", why="interrupted")
    time.sleep(1)
    lab.views.run("ring-notify", "deliver")
    lab.views.step("interrupted", s.pid, hold=3, board="idle", rings=["wait.permission"], rows=[], open=[])


PLAN = [{"tool": "EnterPlanMode", "input": {}}] + plans.DO_IT


def plan_elsewhere(lab, s):
    ask(lab, s, "plan the change", *PLAN)
    row = lab.ring.waited()
    plans.shown(s)
    shown = now_ms()
    lab.views.step("plan on the screen", s.pid, hold=2, ring_from=shown, board="waiting plan", rings=["proposal"], rows=[], open=["proposal"],
                   turn=True, proposal="pending")
    done = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "accept-edits")
    assert done.returncode == 0, done.stderr
    s.claim("WORKING", "approved from a second shell")
    plans.settle(lab, s)
    lab.views.step("plan approved from a second shell", s.pid, hold=3, board="idle", rings=["proposal"], rows=["task.completed"], open=[],
                   turn=False, proposal=None)


def plan_inside(lab, s):
    ask(lab, s, "plan the change", *PLAN)
    lab.ring.asked()
    plans.shown(s)
    shown = now_ms()
    lab.views.step("plan on the screen", s.pid, hold=8, ring_from=shown, board="waiting plan", rings=["proposal"], rows=[], open=["proposal"],
                   turn=True, proposal="pending")
    # the other answers let the agent do later what it should ask for here
    s.answer(s.digit("manually"), why="approved in the agent")
    s.wait_state("WAITING", 30)
    s.wait_text(r"made\.txt", 10)
    time.sleep(0.7)
    s.answer("1", why="write approved")
    idle(s)
    lab.views.step("plan approved in the agent", s.pid, hold=3, board="idle", open=[], turn=False, proposal=None, rows=["task.completed"])


def question(lab, s):
    ask(lab, s, "ask me something", QUESTION, {"text": "Red it is."})
    since = waiting(s)
    lab.views.step("question", s.pid, ring_from=since, hold=8, board="waiting question", rings=["wait.question"], rows=[], open=["wait.question"],
                   turn=True)
    s.answer("Enter", why="first option chosen")
    idle(s)
    lab.views.step("question answered", s.pid, hold=3, board="idle", rings=["wait.question"], rows=["task.completed"], open=[], turn=False)


def long_turn(lab, s):
    ask(lab, s, "think long", {"text": "Thought long.", "delay_ms": LONG_MS})
    ended = idle(s)
    lab.views.step("long turn", s.pid, ring_from=ended, lag=SETTLE_MS, hold=3, board="idle", rings=["task.completed"], rows=["task.completed"],
                   open=[], turn=False)


def long_turn_that_asks(lab, s):
    ask(lab, s, "think long and ask", {"text": "Two ways.\n\nWhich one do you want?", "delay_ms": LONG_MS})
    ended = idle(s)
    lab.views.step("long turn that ends in a question", s.pid, ring_from=ended, hold=4, board="waiting question", rings=["wait.question"],
                   rows=["task.completed"], open=["wait.question"], turn=False)
    newest = lab.views.ask("ring-notify", "list")["notifications"][0]["id"]
    item = lab.views.ledger()["items"].get("turn:" + newest, {})
    if (item.get("why"), item.get("to")) != ("absorbed", {}):
        lab.views.problem("long turn that ends in a question", "its item: %s" % item)


def failing(lab, s):
    ask(lab, s, "say hello", {"error": {"status": 400, "message": "messages: bad"}, "repeat": -1})
    ended = idle(s)
    lab.views.step("failing turn", s.pid, ring_from=ended, lag=SETTLE_MS, hold=3, board="idle", rings=["task.failed"], rows=["task.failed"],
                   open=[], turn=False)


def killed_waiting(lab, s):
    ask(lab, s, "make a last file", bash("git init other"), {"text": "Not reached."})
    since = waiting(s)
    lab.views.step("permission prompt before the crash", s.pid, ring_from=since, lag=NOTICE_MS, hold=1, board="waiting permission",
                   rings=["wait.permission"], rows=[], open=["wait.permission"], turn=True)
    os.kill(s.pid, signal.SIGKILL)
    s.wait_exit()
    time.sleep(max(0, (since + NOTICE_MS + 33000 - now_ms()) / 1000))
    lab.views.run("ring-notify", "deliver")
    lab.views.step("killed while it waits, a repeat's time later", s.pid, hold=1, board="ended", rings=["wait.permission"], rows=[], open=[])


def killed_working(lab, s):
    ask(lab, s, "talk", {"text": "word " * 300, "chunk": 10, "chunk_ms": 150})
    lab.wait_served(1)
    lab.views.step("at work", s.pid, hold=1, board="working", rings=[], rows=[], open=[], turn=True)
    os.kill(s.pid, signal.SIGKILL)
    s.wait_exit()
    time.sleep(2)
    lab.views.run("ring-notify", "deliver")
    lab.views.step("killed while it works", s.pid, hold=3, board="ended", rings=[], rows=[], open=[])


@house("one session from its first prompt to its crash; plans wait for a second shell")
def one(lab):
    s = lab.start()
    for play in (run_short, answered_soon, answered_late, denied, plan_elsewhere, question, long_turn, long_turn_that_asks, failing):
        play(lab, s)
    killed_waiting(lab, s)
    killed_working(lab, lab.start())


@house("the same with plans that are answered in the agent; recorded, it is a fixture of ring-notify's tests", wait=None)
def recorded(lab):
    s = lab.start()
    for play in (run_short, answered_soon, answered_late, denied, plan_inside, question, long_turn, long_turn_that_asks, failing):
        play(lab, s)
    killed_waiting(lab, s)


@house("the plan is answered in the agent, no entry waits; then a command that runs long", wait=None)
def no_wait(lab):
    s = lab.start()
    plan_inside(lab, s)
    question(lab, s)
    approved_and_long(lab, s)


@house("two sessions, watched from a pane beside them, with quiet and repeats", hidden=True)
def two(lab):
    first, second = lab.start(), lab.start()
    views, log = lab.views, os.path.join(lab.views.out, "watch.txt")
    watch = "exec env HOME=%s TZ=UTC %s watch --interval 1s > %s 2>&1" % (lab.home, os.path.join(views.folder, "ring-notify"), log)
    watcher = int(lab.tmux("new-window", "-d", "-P", "-F", "#{pane_pid}", watch))
    lab.did("watch", pid=watcher)
    views.run("ring-notify", "quiet", "1h")
    ask(lab, first, "first, make a file", bash("touch one.txt"), {"text": "Made."}, lane="one")
    ask(lab, second, "second, ask me", QUESTION, {"text": "Red it is."}, lane="two")
    waiting(first), waiting(second)
    time.sleep(9)
    held = views.ask("ring-notify", "quiet")
    if held["held"] != 2:
        views.problem("quiet", "held: %s" % held)
    views.step("quiet", first.pid, hold=1, board="waiting permission", rings=[], rows=[], open=["wait.permission"])
    views.step("quiet", second.pid, hold=1, board="waiting question", rings=[], rows=[], open=["wait.question"])
    views.run("ring-notify", "quiet", "off")
    off = now_ms()
    views.step("end of quiet", first.pid, ring_from=off, hold=2, board="waiting permission", rings=["summary"], open=["wait.permission"])
    time.sleep(max(0, (off + 29000 - now_ms()) / 1000))
    views.step("before the repeat", first.pid, hold=0, rings=["summary"])
    views.step("repeat after 30 s", second.pid, ring_from=None, lag=2000, hold=3, board="waiting question", open=["wait.question"],
               rings=["summary", "wait.permission again", "wait.question again"])
    late = [at - off for at, m in views.rings() if m["ring"] == 1]
    views.lags += [("repeat", at - 30000) for at in late]
    first.answer("1", why="approved")
    second.answer("Enter", why="first option chosen")
    idle(first), idle(second)
    views.step("both answered", first.pid, hold=4, board="idle", open=[], rows=["task.completed"] * 2 if max(late) < 0 else ["task.completed"] * 2)
    views.mark()
    script(lab, bash("touch three.txt"), {"text": "Made."}, lane="one")
    script(lab, bash("touch four.txt"), {"text": "Made."}, lane="two")
    first.submit("another file")
    second.submit("another file")
    since = waiting(first)
    waiting(second)
    views.step("two prompts at once", second.pid, ring_from=since, lag=NOTICE_MS + 2000, hold=3, board="waiting permission",
               rings=["wait.permission"] * 2, open=["wait.permission"])
    first.answer("1", why="approved")
    second.answer("1", why="approved")
    idle(first), idle(second)
    views.step("both approved", second.pid, hold=3, board="idle", open=[], rings=["wait.permission"] * 2)
    os.kill(watcher, signal.SIGTERM)
    lab.until(lambda: not os.path.exists("/proc/%d" % watcher) or plans_dead(watcher), 5, "the end of watch")
    panes = lambda: lab.tmux("list-panes", "-a", "-F", "#{pane_pid} #{pane_dead} #{pane_dead_status}").splitlines()  # noqa: E731
    status = lab.until(lambda: [l.split()[2] for l in panes() if l.startswith("%d 1 " % watcher) and len(l.split()) == 3], 5, "its status")
    if status != ["0"]:
        views.problem("watch", "ended with %s" % status)
    with open(log, encoding="utf-8") as file:
        if not file.read().strip():
            views.problem("watch", "printed nothing")


def plans_dead(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0] in "ZX"


# -- Codex -------------------------------------------------------------------------------------------------


def codex_turns():
    from codex_lab import ESCALATED, say, shell, turn
    outside = lambda n: turn(shell("echo %d > ../outside%d.txt" % (n, n), **ESCALATED), delay_ms=300)  # noqa: E731
    return {"turns": [
        turn(say("Short."), delay_ms=500),
        outside(1), turn(say("Finished one.")),
        outside(2), turn(say("Finished two.")),
        outside(3),
        turn(say("Thought long."), delay_ms=LONG_MS),
        turn(say("Two ways.\n\nWhich one do you want?"), delay_ms=LONG_MS),
        turn(error={"status": 400, "code": "invalid_request", "message": "scripted bad request"}),
        outside(4),
        turn(say("word " * 400, pace_ms=120))]}


@house("one session of Codex from its first prompt to its crash", agent="codex")
def codex(lab):
    lab.start(codex_turns())
    views, pane = lab.views, lab.tui()

    def ask(text):
        views.mark()
        pane.submit(text)

    def waiting():
        pane.wait_state("WAITING", 30)
        return now_ms()

    def idle(text=None):
        if text:
            pane.wait(text, 60)
        pane.wait_state("IDLE", 60)
        lab.truth("IDLE", "the turn has ended")
        return now_ms()

    ask("be short")
    idle(r"Short\.")
    views.step("short turn", pane.pid, hold=4, board="idle", rings=[], rows=["task.completed"], open=[], turn=False)

    ask("write outside")
    waiting()
    time.sleep(5)
    pane.keys("y", why="approved")
    idle("Finished one")
    views.step("permission answered before it rings", pane.pid, hold=9, board="idle", rings=[], rows=["task.completed"], open=[], turn=False)

    ask("write outside again")
    since = waiting()
    views.step("silent permission request", pane.pid, lag=SILENCE_MS, ring_from=since, hold=3, board="waiting permission",
               rings=["wait.permission"], rows=[], open=["wait.permission"], turn=True)
    pane.keys("y", why="approved")
    idle("Finished two")
    views.step("permission answered", pane.pid, hold=3, board="idle", rings=["wait.permission"], rows=["task.completed"], open=[], turn=False)

    ask("write outside once more")
    since = waiting()
    views.step("silent permission request to deny", pane.pid, lag=SILENCE_MS, ring_from=since, hold=1, board="waiting permission",
               rings=["wait.permission"], rows=[], open=["wait.permission"], turn=True)
    pane.keys("n", why="denied; the turn ends here")
    idle()
    time.sleep(max(0, (since + SILENCE_MS + 33000 - now_ms()) / 1000))
    views.run("ring-notify", "deliver")
    views.step("a repeat's time after the denial", pane.pid, hold=1, board="idle", rings=["wait.permission"], rows=[], open=[], turn=False)

    ask("think long")
    ended = idle("Thought long")
    views.step("long turn", pane.pid, ring_from=ended, lag=SETTLE_MS, hold=3, board="idle", rings=["task.completed"], rows=["task.completed"],
               open=[], turn=False)

    ask("think long and ask")
    ended = idle("Which one do you want")
    views.step("long turn that ends in a question", pane.pid, ring_from=ended, hold=4, board="waiting question", rings=["wait.question"],
               rows=["task.completed"], open=["wait.question"], turn=False)

    ask("fail")
    idle("scripted bad request")
    views.run("ring-notify", "deliver")
    views.step("failing turn", pane.pid, hold=4, board="idle", rings=[], rows=[], open=[])  # no hook tells of it

    ask("write outside for the last time")
    since = waiting()
    views.step("silent permission request before the crash", pane.pid, lag=SILENCE_MS, ring_from=since, hold=1, board="waiting permission",
               rings=["wait.permission"], rows=[], open=["wait.permission"], turn=True)
    os.kill(pane.pid, signal.SIGKILL)
    pane.wait_dead()
    time.sleep(max(0, (since + SILENCE_MS + 33000 - now_ms()) / 1000))
    views.run("ring-notify", "deliver")
    views.step("killed while it waits, a repeat's time later", pane.pid, hold=1, board="ended", rings=["wait.permission"], rows=[], open=[])

    pane = lab.tui(name="again")
    ask("talk")
    pane.wait("word word", 20)
    views.step("at work", pane.pid, hold=1, board="working", rings=[], rows=[], open=[], turn=True)
    os.kill(pane.pid, signal.SIGKILL)
    pane.wait_dead()
    time.sleep(2)
    views.run("ring-notify", "deliver")
    views.step("killed while it works", pane.pid, hold=3, board="ended", rings=[], rows=[], open=[])


# -- beside the agent ----------------------------------------------------------------------------------------


class Beside:
    """A client of the laboratory's tmux on a terminal of its own, and everything that is written to the agents' panes."""

    def __init__(self, socket, out):
        self.socket, self.out, self.client, self.piped = socket, out, None, []

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, *args], capture_output=True, text=True, check=True).stdout

    def attach(self):
        import fcntl
        import pty
        import struct
        import termios
        import threading
        self.tmux("set-option", "-g", "allow-passthrough", "on")
        self.tmux("set-option", "-g", "focus-events", "off")  # tmux 3.3a dies of one for a pane whose program has ended
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 46, 120, 0, 0))
        env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.client = subprocess.Popen(["tmux", "-L", self.socket, "attach"], stdin=theirs, stdout=theirs, stderr=theirs, env=env,
                                       start_new_session=True)
        os.close(theirs)

        def read():
            with open(os.path.join(self.out, "bar.raw"), "wb") as file:
                while True:
                    try:
                        data = os.read(ours, 65536)
                    except OSError:
                        return
                    if not data:
                        return
                    file.write(data)
                    file.flush()
        threading.Thread(target=read, daemon=True).start()

    def pane(self, target):
        if not self.client:
            self.attach()
        subprocess.run(["tmux", "-L", self.socket, "select-window", "-t", target], check=False)  # tmux lets nothing through from a window that nobody sees
        path = os.path.join(self.out, "pane%d.raw" % len(self.piped))
        self.piped.append(path)
        self.tmux("pipe-pane", "-O", "-t", target, "exec cat >> '%s'" % path)

    def sequences(self):
        """Texts of OSC 9 that were passed through the panes."""
        found = []
        for path in self.piped:
            if os.path.exists(path):
                with open(path, "rb") as file:
                    found += re.findall(rb"\x1bPtmux;\x1b\x1b\]9;([^\x07\x1b]*)\x07\x1b\\", file.read())
        return [text.decode(errors="replace") for text in found]

    def messages(self):
        if not self.client:
            return ""
        with open(os.path.join(self.out, "bar.raw"), "rb") as file:
            return file.read().decode(errors="replace")


def judge_outlets(views, beside, hidden):
    """Each ring of the probe was written to a pane and shown by tmux, and nothing else was. `hidden`: some panes are not to be seen."""
    titles = [m["title"] for _, m in views.rings()]
    passed = beside.sequences()
    if hidden:
        if any(not any(p.startswith(t) for t in titles) for p in passed):
            views.problem("pane", "rings %s, but sequences %s" % (titles, passed))
    elif len(passed) != len(titles) or any(not any(t in p for p in passed) for t in titles):
        views.problem("pane", "%d rings %s, but %d sequences %s" % (len(titles), titles, len(passed), passed))
    shown = beside.messages()
    for title in sorted(set(titles)):
        if title not in shown:
            views.problem("bar", "tmux has not shown %r" % title)


def nothing_said(views, texts):
    """No word of ours reached the agent: (what, text) of its screen, of its transcript and of what it asked the service."""
    titles = "|".join(sorted({re.escape(m["title"]) for _, m in views.rings()}))
    for what, text in texts:
        # Claude Code lists the commands of its Stop hooks in its own transcript
        names = "" if "/projects/" in what else r"ring-(?:hook|plan|session|notify|scan)\b"
        ours = "|".join(filter(None, [titles, names]))
        found = ours and re.search(ours, text)
        if found:
            views.problem("agent", "%s shows %r" % (what, text[max(0, found.start() - 80):found.end() + 80]))


def configure(views, scenario):
    folder = os.path.join(views.lab.home, ".config", "ring")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
        file.write((CONFIG % scenario["config"]).replace("@PROBE@", views.probe))


def finish(lab):
    """All that is judged when the scenario has been played. The agents have ended or end now."""
    views = lab.views
    views.nothing_twice()
    views.hook_errors()
    judge_outlets(views, lab.beside, lab.scenario.get("hidden"))
    for name in ("notify/ledger.json", "events.jsonl", "hook-errors.log"):
        path = os.path.join(views.state, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file, open(os.path.join(views.out, os.path.basename(name)), "w", encoding="utf-8") as kept:
                kept.write(file.read())


KEPT = plans.KEPT + "transcript_path last_assistant_message notification_type message".split()


def replay(lab):
    """replay.jsonl: payloads, live records and steps of a session in order, without a path of this machine."""
    hooks = plans.read_lines(os.path.join(lab.out, "hooks.jsonl")) if os.path.exists(os.path.join(lab.out, "hooks.jsonl")) else []
    if not hooks or len(lab.sessions) != 1:
        return
    first, pid = hooks[0]["t_ms"], lab.sessions[0].pid
    lines = [(h["t_ms"], {"payload": {k: v for k, v in h["payload"].items() if k in KEPT}}) for h in hooks]
    for change in plans.read_lines(os.path.join(lab.out, "registry.jsonl")):
        record = change.get("content") or {}
        if change["file"] == "%d.json" % pid and record.get("status"):
            written = record.get("statusUpdatedAt") or record["updatedAt"]
            lines.append((change["t_ms"], {"live": {"status": record["status"], "waitingFor": record.get("waitingFor"), "ms": written - first}}))
    lines += [(at, told) for at, told in lab.views.told]
    lines += [(t["t_ms"], {"gone": True}) for t in plans.read_lines(os.path.join(lab.out, "truth.jsonl")) if t["state"] == "ENDED"]
    lines.sort(key=lambda line: line[0])
    text = json.dumps({"agent": "claude-code", "version": lab.version, "scenario": lab.name, "completed_min_seconds": MIN_SECONDS}) + "\n"
    text += "".join(json.dumps(dict({"ms": at - first}, **line)) + "\n" for at, line in lines)
    names = {lab.cwd: "@HOME@/work", lab.home: "@HOME@", lab.root: "@HOME@", re.sub(r"[^A-Za-z0-9-]", "-", lab.cwd): "-work"}
    for name, word in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, word)
    with open(os.path.join(lab.out, "replay.jsonl"), "w", encoding="utf-8") as file:
        file.write(text)


def everything_below(folder):
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield path, file.read()
