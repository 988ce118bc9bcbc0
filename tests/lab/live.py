#!/usr/bin/env python3
"""Plays scenarios with the real Claude Code and Codex against a mock service, and checks that the board follows.

    tests/lab/live.py --claude PATH [--claude PATH ..] --codex PATH [--daemon] [--bin target/release] [SCENARIO ..]
    tests/lab/live.py --claude PATH [--claude PATH ..] plan [PLAN SCENARIO ..]
    tests/lab/live.py --claude PATH [--codex PATH] house [HOUSE SCENARIO ..]

Not part of `cargo test`: it needs the laboratory (RING_LAB, else ../shared/lab), the agents, tmux, and minutes. The hooks
are put in by `ring-hook install` into the laboratory's home. `ring-scan --all --format json` is asked every 0.2 s, and what it
says is compared with the laboratory's truth.jsonl, which comes from the keyboard and the screen alone. Two seconds after
each change, and until the next, the board must say the same. Prints a table, and each disagreement; exit status 1 if any.

`plan` plays the scenarios of plans.py instead: plans of Claude Code that are decided from a second shell, in the agent, or by
nobody. A line each, with what was expected and what was seen.

`house` plays those of house.py: whole sessions beside which board, record, inbox, rings and ledger are compared at every step.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.environ.get("RING_LAB") or os.path.join(ROOT, "..", "shared", "lab")

CLAUDE = """answer answer_question tool_allowed bash_approved bash_approved_late bash_denied bash_escaped bash_two_prompts
write_approved question_answered question_escaped plan_approved plan_rejected esc_streaming esc_before_token esc_then_prompt
api_500 subagent_foreground subagent_permission background_bash queued clear compact elicitation shell_line menu exit_command
kill_9 kill_9_waiting pane_closed_busy resume two_sessions print_tool""".split()
CODEX = """simple question shell-auto approval-yes approval-no approval-esc ask-user interrupt-stream interrupt-tool api-error
subagent queued compact clear ctrl-c kill sigterm terminal-closed resume two-sessions""".split()

FOLLOW_MS = 2000
# The truth is read from the screen: it may be told this late, and then the board is ahead of it.
AHEAD_MS = 1200
# Codex tells nobody that its permission prompt is open, unless its background server answers; then silence speaks (V1).
SILENCE_MS = 11000
# Shorter than this, a state between two others is a step that the screen hides, as the end of a turn before a queued one.
BLINK_MS = 500
RANK = {"waiting": 0, "working": 1, "idle": 2, "ended": 3}


def now_ms():
    return int(time.time() * 1000)


class Board(threading.Thread):
    """Asks ring-scan again and again."""

    def __init__(self, scan, home, out):
        super().__init__(daemon=True)
        self.scan, self.home, self.file = scan, home, open(os.path.join(out, "board.jsonl"), "w", encoding="utf-8")
        self.seen, self.problems, self.stopping = [], [], threading.Event()

    def run(self):
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        while not self.stopping.is_set():
            began = now_ms()
            done = subprocess.run([self.scan, "--all", "--format", "json"], env=env, capture_output=True, timeout=20)
            if done.returncode:
                self.problems.append(done.stderr.decode(errors="replace").strip())
            else:
                rows = json.loads(done.stdout)["sessions"]
                self.seen.append((began, now_ms(), rows))
                self.file.write(json.dumps({"t_ms": began, "took_ms": now_ms() - began, "sessions": rows}) + "\n")
            self.stopping.wait(0.2)

    def end(self):
        self.stopping.set()
        self.join(20)
        self.file.close()


def install(bin_dir, agent, home, client, *more):
    """ring-hook install, with the client first in PATH under its usual name, so that its version is found."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(client, os.path.join(folder, "claude" if agent == "claude-code" else "codex"))
        env = {"HOME": home, "PATH": folder + ":" + os.environ["PATH"], "LANG": "C.UTF-8"}
        done = subprocess.run([os.path.join(bin_dir, "ring-hook"), "install", "--agent", agent, *more], env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("ring-hook install: " + done.stderr.strip())
    return done.stdout


def state_of(rows):
    """The most urgent of these rows; no row is an ended session."""
    rows = sorted(rows, key=lambda row: RANK[row["status"]])
    return (rows[0]["status"], rows[0]) if rows else ("ended", None)


def agrees(truth, status, row):
    """Whether a board says what is true."""
    want = truth["state"].lower()
    if status == want:
        return True
    if want == "idle" and status == "waiting" and row["waiting"]["kind"] == "question" and row["rule"] == "hook_wait":
        return True  # the turn ended in a question; the screen does not tell that from any other end
    if want == "idle" and status == "working" and (truth.get("background") or "background" in row["note"]):
        return True  # the turn is over and its background work is not
    return False


def compare(truths, seen, rows_of, lag_of):
    """Delays of the board at each change, and its disagreements: (from, to, truth, what the board said)."""
    delays, wrong = [], []
    for i, truth in enumerate(truths):
        if truth.get("client_only"):
            continue  # the terminal is gone and its session lives on in the server, where no screen shows what is true
        begin = truth["t_ms"]
        following = truths[i + 1] if i + 1 < len(truths) else None
        end = following["t_ms"] if following else begin + 5000
        first, last_wrong = None, None
        for began, ended, rows in seen:
            if began < begin - AHEAD_MS or began >= end:
                continue
            status, row = state_of(rows_of(rows, truth))
            good = agrees(truth, status, row)
            if good and first is None:
                first = max(0, ended - begin)
            late = began >= begin + lag_of(truth)
            ahead = following and began >= end - AHEAD_MS  # on the way to the next state, by steps that the screen does not show
            if good or not late or ahead:
                last_wrong = None
                continue
            if last_wrong is None:
                last_wrong = [began, ended, truth, status, row]
                wrong.append(last_wrong)
            last_wrong[1] = ended
        if first is not None:
            delays.append(first)
    return delays, [w for w in wrong if w[1] - w[0] > BLINK_MS]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return [json.loads(line) for line in file if line.strip()]


def brief(row):
    if row is None:
        return "no row"
    return "%s, rule %s, %s, note %r" % (row["status"], row["rule"], row["evidence"], row["note"])


class Result:
    def __init__(self, client, name):
        self.client, self.name, self.failed, self.delays, self.wrong, self.problems = client, name, None, [], [], []

    def judge(self, truths, seen, rows_of, lag_of, pane):
        delays, wrong = compare(truths, seen, rows_of, lag_of)
        self.delays += delays
        self.wrong += [(pane, *w) for w in wrong]

    def line(self):
        worst = "%.1f s" % (max(self.delays) / 1000) if self.delays else "-"
        median = "%.1f s" % (sorted(self.delays)[len(self.delays) // 2] / 1000) if self.delays else "-"
        verdict = "not played: " + self.failed.splitlines()[0][:80] if self.failed else "follows" if self.good() else "DISAGREES"
        return "%-16s %-22s %3d changes  median %-6s worst %-7s %s" % (self.client, self.name, len(self.delays), median, worst, verdict)

    def good(self):
        return not self.wrong and not self.problems

    def details(self):
        for pane, begin, end, truth, status, row in self.wrong:
            yield "    %s: for %.1f s from %.1f s after the change the truth was %s (%s), the board said %s" % (
                pane, (end - begin) / 1000, (begin - truth["t_ms"]) / 1000, truth["state"], truth["why"][:60], brief(row) if row else status)
        for problem in sorted(set(self.problems)):
            yield "    ring-scan: " + problem


def play_claude(claude, name, options):
    import claude_lab
    version = claude_lab.version_of(claude)
    result = Result("claude " + version, name)

    class Lab(claude_lab.Lab):
        def prepare(self):
            super().prepare()
            install(options.bin, "claude-code", self.home, self.claude)
            self.board = Board(os.path.join(options.bin, "ring-scan"), self.home, self.out)
            self.board.start()

        def clean(self):
            time.sleep(1)
            self.board.end()
            super().clean()

    out = os.path.join(options.out, version, name)
    lab = Lab(name, claude_lab.scenarios.ALL[name], claude, version, out)
    result.failed = lab.run()
    result.problems = lab.board.problems
    truths = read(os.path.join(out, "truth.jsonl"))
    for pid in sorted({truth["pid"] for truth in truths}):
        mine = [truth for truth in truths if truth["pid"] == pid]
        result.judge(mine, lab.board.seen, lambda rows, _, pid=pid: [r for r in rows if r["process"]["pid"] == pid],
                     lambda _: FOLLOW_MS, "pane %s" % mine[0].get("pane"))
    return result


def play_plan(claude, name, options):
    """A scenario of plans.py; its result has what was expected and what was seen."""
    import claude_lab
    import plans
    version, spec = claude_lab.version_of(claude), plans.ALL[name]
    result = PlanResult("claude " + version, name)

    class Lab(claude_lab.Lab):
        def prepare(self):
            super().prepare()
            plans.configure(self)
            wait = ["--plan-wait", self.spec["wait"]] if self.spec["wait"] else []
            install(options.bin, "claude-code", self.home, self.claude, "--with", "plan", *wait)
            self.ring = plans.Ring(self, options.bin)
            self.board = Board(os.path.join(options.bin, "ring-scan"), self.home, self.out)
            self.board.start()

        def clean(self):
            time.sleep(1)
            result.seen = plans.seen(self)
            self.board.end()
            plans.keep(self)
            super().clean()

    out = os.path.join(options.out, "plan", version, name)
    lab = Lab(name, spec, claude, version, out)
    result.failed = lab.run()
    result.expected = plans.expected(spec, version)
    result.problems = lab.board.problems
    truths = read(os.path.join(out, "truth.jsonl"))
    for pid in sorted({truth["pid"] for truth in truths}):
        mine = [truth for truth in truths if truth["pid"] == pid]
        result.judge(mine, lab.board.seen, lambda rows, _, pid=pid: [r for r in rows if r["process"]["pid"] == pid],
                     lambda _: FOLLOW_MS, "pane %s" % mine[0].get("pane"))
    return result


def play_plan_codex(codex, name, options, daemon):
    """The same of Codex, of which only the gate is answered."""
    import codex_lab
    import plans
    result = PlanResult("codex" + (" daemon" if daemon else ""), name)
    play, result.expected = plans.CODEX[name]
    lab_options = argparse.Namespace(work=None, model="gpt-6.2-sol", daemon=daemon, retries=0, also=[], env=[], full=True, keep=False)

    class Lab(codex_lab.Lab):
        def start(self, *args, **more):
            super().start(*args, **more)
            install(options.bin, "codex", self.home, self.binary, "--with", "plan")

    lab = Lab(os.path.join(options.out, "plan", result.client.replace(" ", "@"), name), codex, lab_options)
    lab.ring = plans.Ring(lab, options.bin)
    try:
        result.seen = play(lab)
    except Exception as error:
        result.failed = "%s: %s" % (type(error).__name__, error)
    finally:
        lab.close()
    return result


class PlanResult(Result):
    expected, seen = {}, {}

    def differs(self):
        return [k for k, v in self.expected.items() if self.seen.get(k) != v]

    def line(self):
        words = lambda found: " ".join("%s=%s" % (k, "+".join(map(str, v)) if isinstance(v, list) else v) for k, v in found.items())  # noqa: E731
        if self.failed:
            told = "not played: " + self.failed.splitlines()[0][:120]
        elif self.differs():
            told = "expected %s, SEEN %s" % (words({k: self.expected[k] for k in self.differs()}), words({k: self.seen.get(k) for k in self.differs()}))
        else:
            told = "expected and seen: " + words(self.expected)
        return "%-16s %-22s %s" % (self.client, self.name, told)

    def good(self):
        return super().good() and not self.differs()


class HouseResult(Result):
    """Steps of house.py and what they disagreed in."""
    views, spans = None, ()

    def finish(self, views, hooks):
        self.views, self.spans = views, hooks.spans()
        self.problems = views.wrong

    def line(self):
        verdict = "not played: " + self.failed.splitlines()[0][:120] if self.failed else "agrees" if self.good() else "DISAGREES"
        return "%-16s %-12s %3d steps, %d rings  %s" % (self.client, self.name, self.views.steps, len(self.views.rings()), verdict)

    def details(self):
        import house
        for problem in self.problems:
            yield "    " + problem
        for measure in house.measures(self.spans):
            yield "    hooks: " + measure
        for kind in sorted({k for k, _ in self.views.lags}):
            lags = sorted(lag for k, lag in self.views.lags if k == kind)
            yield "    rings: %s: n %d, median %.2f s, worst %.2f s after they were due" % (kind, len(lags), lags[len(lags) // 2] / 1000, lags[-1] / 1000)


def play_house(client, name, options):
    import house
    spec = house.ALL[name]
    if spec["agent"] == "codex":
        return play_house_codex(client, name, options)
    import claude_lab
    import plans
    version = claude_lab.version_of(client)
    result = HouseResult("claude " + version, name)
    lane = lambda name, **match: {"name": name, "match": dict(match, tools=True), "turns": []}  # noqa: E731
    lanes = [lane("one", first_user="first,"), lane("two", first_user="second,"), lane("main")]
    more = {"mock": {"lanes": lanes}, "allow": ["Bash(echo:*)"], "expected": {}, "config": "", "args": []}

    class Lab(claude_lab.Lab):
        def prepare(self):
            super().prepare()
            path = os.path.join(self.home, ".claude", "settings.json")
            if not os.environ.get("RING_LAB_RECORD"):  # the recording hooks cost the machine more than ours
                with open(path, encoding="utf-8") as file:
                    settings = json.load(file)
                del settings["hooks"]
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(settings, file, indent=1)
            self.views, self.ring = house.Views(self, options.bin, self.out), plans.Ring(self, options.bin)
            self.beside = house.Beside(self.socket, self.out)
            house.configure(self.views, spec)
            wait = ["--plan-wait", spec["wait"]] if spec["wait"] else []
            add = lambda: install(options.bin, "claude-code", self.home, self.claude, "--with", "session,plan,notify", *wait)  # noqa: E731
            self.house_hooks = house.Hooks(self.views, add, "claude-code", path)
            self.house_hooks.put_in()

        def start(self, *args, **kwargs):
            session = super().start(*args, **kwargs)
            self.beside.pane(session.pane)
            return session

        def clean(self):
            house.finish(self)
            super().clean()
            self.house_hooks.take_out()
            said = [("the screen", read_text(os.path.join(self.out, "screen.txt")))]
            said += list(house.everything_below(os.path.join(self.root, "bodies")))
            said += list(house.everything_below(os.path.join(self.home, ".claude", "projects")))
            house.nothing_said(self.views, said)

    Lab.scenario = spec
    lab = Lab(name, dict(spec, **more), client, version, os.path.join(options.out, "house", version, name))
    result.failed = lab.run()
    house.replay(lab)
    result.finish(lab.views, lab.house_hooks)
    return result


def play_house_codex(codex, name, options):
    import codex_lab
    import house
    spec = house.ALL[name]
    result = HouseResult("codex", name)
    lab_options = argparse.Namespace(work=None, model="gpt-6.2-sol", daemon=False, retries=0, also=[], env=[], full=True, keep=False)

    class Lab(codex_lab.Lab):
        def start(self, *args, **more):
            super().start(*args, hooks=[], **more)
            self.views, self.beside = house.Views(self, options.bin, self.out), house.Beside(self.socket, self.out)
            house.configure(self.views, spec)
            add = lambda: install(options.bin, "codex", self.home, self.binary, "--with", "session,plan,notify")  # noqa: E731
            self.house_hooks = house.Hooks(self.views, add, "codex", os.path.join(self.codex_home, "hooks.json"))
            self.house_hooks.put_in()

        def command(self, *args, **more):
            # a client in tmux knows where it is; the laboratory's does not
            return super().command(*args, **more).replace(" HOME=", ' TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" HOME=', 1)

        def tui(self, *args, **more):
            pane = super().tui(*args, **more)
            self.beside.pane(pane.target)
            return pane

    Lab.scenario = spec
    lab = Lab(os.path.join(options.out, "house", "codex", name), codex, lab_options)
    try:
        spec["play"](lab)
    except Exception as error:  # what was seen until then is judged all the same
        result.failed = "%s: %s" % (type(error).__name__, error)
    finally:
        time.sleep(1)
        house.finish(lab)
        lab.house_hooks.take_out()
        said = [(n, read_text(os.path.join(lab.out, n))) for n in ("screens.jsonl", "requests.jsonl", "rollout.jsonl")]
        house.nothing_said(lab.views, said)
        lab.close()
    result.finish(lab.views, lab.house_hooks)
    return result


def read_text(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def play_codex(codex, name, options, daemon):
    import codex_lab
    result = Result("codex" + (" daemon" if daemon else ""), name)
    lab_options = argparse.Namespace(work=None, model="gpt-6.2-sol", daemon=daemon, retries=0, also=[], env=[], full=False, keep=False)
    out = os.path.join(options.out, "codex" + ("@daemon" if daemon else ""), name)

    class Lab(codex_lab.Lab):
        def start(self, *args, **more):
            super().start(*args, **more)
            install(options.bin, "codex", self.home, self.binary)
            self.board = Board(os.path.join(options.bin, "ring-scan"), self.home, self.out)
            self.board.start()

    lab = Lab(out, codex, lab_options)
    try:
        codex_lab.SCENARIOS[name](lab)
    except Exception as error:  # what was played until then is compared all the same
        result.failed = "%s: %s" % (type(error).__name__, error)
    finally:
        time.sleep(1)
        lab.board.end()
        lab.close()
    result.problems = lab.board.problems
    truths = read(os.path.join(out, "truth.jsonl"))
    pids = {a["pane"]: a["pid"] for a in read(os.path.join(out, "actions.jsonl")) if a["action"] == "start"}

    begun = {pane: min([t["t_ms"] for t in truths if t["pane"] == pane and t["state"] == "WORKING"], default=now_ms()) for pane in pids}

    def lag(truth):
        silent = truth["state"] == "WAITING" and truth.get("kind") in (None, "permission") and not daemon
        # a client that was opened and asked nothing has no record yet; its process counts after five seconds
        young = truth["state"] == "IDLE" and truth["t_ms"] < begun.get(truth["pane"], 0)
        return FOLLOW_MS + (SILENCE_MS if silent else 5000 if young else 0)

    for pane in sorted({truth["pane"] for truth in truths}):
        mine = [truth for truth in truths if truth["pane"] == pane]
        if daemon:
            rows_of = lambda rows, _: [r for r in rows if r["agent"] == "codex" and r["cwd"].startswith(lab.work)]  # noqa: E731
        else:
            rows_of = lambda rows, _, pid=pids.get(pane): [r for r in rows if r["process"]["pid"] == pid]  # noqa: E731
        result.judge(mine, lab.board.seen, rows_of, lag, pane)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claude", action="append", default=[], metavar="PATH", help="a Claude Code program; may be given again")
    parser.add_argument("--codex", metavar="PATH", help="a Codex program")
    parser.add_argument("--daemon", action="store_true", help="play Codex with its background server too")
    parser.add_argument("--bin", default=os.path.join(ROOT, "target", "release"), help="folder of our programs")
    parser.add_argument("--out", default=os.path.join(ROOT, "target", "lab"), help="folder for the recordings")
    parser.add_argument("--jobs", type=int, default=1, help="scenarios at a time")
    parser.add_argument("names", nargs="*", metavar="SCENARIO")
    options = parser.parse_args()
    if not os.path.isdir(LAB):
        print("no laboratory: set RING_LAB")
        return 0
    sys.path.insert(0, LAB)
    options.bin, options.out = os.path.abspath(options.bin), os.path.abspath(options.out)
    jobs = []
    if options.names[:1] == ["plan"]:
        import plans
        wanted = options.names[1:]
        jobs = [(play_plan, os.path.abspath(claude), n, options) for claude in options.claude for n in wanted or plans.ALL if n in plans.ALL]
        if options.codex:
            import codex_lab
            codex = codex_lab.find_binary(os.path.abspath(options.codex))
            for daemon in [False, True] if options.daemon else [False]:
                jobs += [(play_plan_codex, codex, n, options, daemon) for n in wanted or plans.CODEX if n in plans.CODEX]
        return report(jobs, options)
    if options.names[:1] == ["house"]:
        return report(house_jobs(options), options)
    for claude in options.claude:
        jobs += [(play_claude, os.path.abspath(claude), n, options) for n in CLAUDE if not options.names or n in options.names]
        import claude_lab
        known = claude_lab.scenarios.ALL
        jobs += [(play_claude, os.path.abspath(claude), n, options) for n in options.names if n in known and n not in CLAUDE]
    if options.codex:
        import codex_lab
        codex = codex_lab.find_binary(os.path.abspath(options.codex))
        for daemon in [False, True] if options.daemon else [False]:
            names = options.names or [n for n in CODEX if not (daemon and n == "two-sessions")]
            jobs += [(play_codex, codex, n, options, daemon) for n in names if n in codex_lab.SCENARIOS]
    return report(jobs, options)


def house_jobs(options):
    import house
    clients = {"claude": [os.path.abspath(c) for c in options.claude], "codex": []}
    if options.codex:
        import codex_lab
        clients["codex"] = [codex_lab.find_binary(os.path.abspath(options.codex))]
    names = options.names[1:] or list(house.ALL)
    return [(play_house, c, n, options) for n in names for c in clients[house.ALL[n]["agent"]]]


def report(jobs, options):
    """Plays them, some at a time, and prints what came of each; the exit status."""
    bad = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(*job) for job in jobs]):
            result = future.result()
            print(result.line(), flush=True)
            for detail in result.details():
                print(detail, flush=True)
            if not result.good() or result.failed:
                bad.append(result)
    print("%d scenarios, %d to look at" % (len(jobs), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
