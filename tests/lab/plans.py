"""Plans of the real Claude Code, decided from a second shell: what the agent then does, and what the record says.

Played by live.py (`live.py --claude PATH plan`). Each scenario is a dozen lines: what the service answers, what the person
and the second shell do, and what must be seen in the end. The hooks are those of `ring-hook install --with plan`.
"""
import json
import os
import re
import subprocess
import time

PLAN_TEXT = "# Add a file\n\n1. Write made.txt.\n2. Say so.\n"
SECOND_TEXT = "# Add a file, shorter\n\n1. Write made.txt.\n"
CHILD = "CHILD TASK"
ALL = {}

CWD = {"CWD": r"working directory: (/[^ \"\\\n]+)"}
WRITE = {"tool": "Write", "input": {"file_path": "@CWD@/made.txt", "content": "made\n"}, "find": CWD}


def propose(text=PLAN_TEXT):
    """The agent writes its plan to its own file, and asks to leave plan mode."""
    write = {"tool": "Write", "input": {"file_path": "@PLAN@", "content": text}, "find": {"PLAN": r"(/[^ \"]+/plans/[^ \"]+?\.md)"}}
    return [write, {"tool": "ExitPlanMode", "input": {"plan": text}}]


DO_IT = propose() + [WRITE, {"text": "The plan is carried out."}]


def plan(about, expected, turns=None, wait="60s", args=("--permission-mode", "plan"), config="", child=(), **spec):
    """Registers a scenario. `expected` holds members of what `seen` gives."""
    def register(play):
        lanes = [{"name": "child", "match": {"first_user": CHILD, "tools": True}, "turns": list(child)}] if child else []
        lanes += [{"name": "main", "match": {"tools": True}, "turns": list(DO_IT if turns is None else turns)}]
        ALL[play.__name__] = dict(spec, about=about, play=play, mock={"lanes": lanes}, args=list(args), wait=wait, config=config,
                                  expected=expected)
        return play
    return register


class Ring:
    """The second shell: our programs, in the laboratory's home and in no way below the agent."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder

    def run(self, program, *args):
        env = {"HOME": self.lab.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}
        done = subprocess.run([os.path.join(self.folder, program)] + list(args), env=env, capture_output=True, text=True, timeout=30)
        told = dict(args=[program] + list(args), status=done.returncode, stdout=done.stdout, stderr=done.stderr)
        # the two laboratories take their notes differently
        self.lab.did("second shell", **told) if hasattr(self.lab, "did") else self.lab.mark("second shell", **told)
        return done

    def rows(self, *args):
        done = self.run("ring-plan", "--format", "json", *args)
        return json.loads(done.stdout) if done.returncode == 0 else []

    def records(self):
        folder = os.path.join(self.lab.home, ".local/state/ring/sessions")
        found = []
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            try:
                with open(os.path.join(folder, name, "session.json"), encoding="utf-8") as file:
                    found.append((name, json.load(file)))
            except (OSError, ValueError):
                continue
        return found

    def proposal(self, test, what, timeout=20):
        """The open proposal of the only session, as soon as `test` holds for it."""
        def look():
            for _, record in self.records():
                row = record.get("proposal")
                if row and row["status"] == "pending" and test(row):
                    return row
            return None
        return self.lab.until(look, timeout, what)

    def waited(self):
        return self.proposal(lambda row: row["waiter"], "a waiter")

    def asked(self):
        return self.proposal(lambda row: row["asked"], "the agent's prompt")


def begin(lab):
    s = lab.start()
    s.submit("plan the change")
    return s


def shown(s):
    """The agent's dialog is on the screen, and the person has time to read it."""
    s.wait_text(r"Would you like to proceed|Ready to code|written up a plan", 20)
    time.sleep(1.5)


def settle(lab, s, write="Yes"):
    """To the end of the turn; a prompt for the write is answered."""
    end = time.monotonic() + 40
    asked = False
    while time.monotonic() < end:
        if s.state == "IDLE":
            time.sleep(1.2)
            return
        writes = [h for h in lab.hook_events("PermissionRequest") if h["payload"].get("tool_name") == "Write"]
        if writes and not asked:
            s.wait_text(r"Do you want to|made\.txt", 10)
            time.sleep(1.0)
            s.answer("1", why="write approved")
            asked = True
        time.sleep(0.1)
    raise RuntimeError("the turn did not end")


def waits(lab):
    return any(r.get("proposal") and r["proposal"]["waiter"] for _, r in lab.ring.records())


def decide(lab, s, verb, *words, after=None):
    """The person in the second shell decides the plan that is on the screen; its row."""
    row = lab.ring.proposal(lambda r: r["waiter"] and r["id"] != after, "a waiter", 30)
    shown(s)
    done = lab.ring.run("ring-plan", verb, row["id"], *words)
    assert done.returncode == 0, done.stderr
    s.claim("WORKING", verb + " from a second shell")
    return row


def approve(mode, note=None):
    def play(lab):
        s = begin(lab)
        decide(lab, s, "approve", "--permission", mode, *(["--note", note] if note else []))
        settle(lab, s)
    return play


APPROVED = {"status": "approved", "by": "cli", "execution": "completed", "session": "agent", "made": True, "dialog": "closed"}
for ours, agents, asks in [("ask", "default", True), ("accept-edits", "acceptEdits", False), ("auto", "auto", False)]:
    play_it = approve(ours)
    play_it.__name__ = "approve_" + ours.replace("-", "_")
    plan("approved from a second shell with --permission " + ours,
         dict(APPROVED, permission=ours, agent=agents, write="asked" if asks else "free"))(play_it)

play_it = approve("auto")
play_it.__name__ = "approve_auto_accepts"
plan("the same, with plan.claude_auto = acceptEdits", dict(APPROVED, permission="auto", agent="acceptEdits", write="free"),
     config="[plan]\nclaude_auto = \"acceptEdits\"\n")(play_it)

play_it = approve("auto")
play_it.__name__ = "approve_auto_bypass"
plan("the same, with plan.claude_auto = bypassPermissions", dict(APPROVED, permission="auto", agent="bypassPermissions", write="free"),
     args=("--permission-mode", "plan", "--allow-dangerously-skip-permissions"), config="[plan]\nclaude_auto = \"bypassPermissions\"\n", env={"IS_SANDBOX": "1"})(play_it)

play_it = approve("auto")
play_it.__name__ = "approve_auto_no_bypass"
plan("the same, of an agent that was not started with leave to bypass", dict(APPROVED, permission="auto", agent="default", write="asked"),
     config="[plan]\nclaude_auto = \"bypassPermissions\"\n", env={"IS_SANDBOX": "1"})(play_it)

play_it = approve("ask", "Keep the old file.")
play_it.__name__ = "approve_with_note"
plan("approved with a note, which the agent reads", dict(APPROVED, permission="ask", agent="default", write="asked", told="Keep the old file."))(play_it)


@plan("rejected with a note; the agent revises, and the second plan is approved",
      dict(APPROVED, permission="ask", agent="default", write="asked", rows=["approved", "rejected"], told="Fewer steps, please."),
      turns=propose() + propose(SECOND_TEXT) + [WRITE, {"text": "The plan is carried out."}])
def reject_then_approve(lab):
    s = begin(lab)
    row = decide(lab, s, "reject", "--note", "Fewer steps, please.")
    decide(lab, s, "approve", "--permission", "ask", after=row["id"])
    settle(lab, s)


@plan("rejected with a note, and the agent gives up", {"status": "rejected", "by": "cli", "execution": None, "session": "plan", "agent": "plan",
      "made": False, "dialog": "closed", "told": "Not this way."}, turns=propose() + [{"text": "Then I stop."}])
def reject_note(lab):
    s = begin(lab)
    decide(lab, s, "reject", "--note", "Not this way.")
    settle(lab, s)


@plan("its deadline comes; the agent's own prompt stays and is answered there",
      {"status": "expired", "by": None, "execution": None, "session": "agent", "made": True, "dialog": "stayed", "write": "free", "agent": "auto"},
      config="[plan]\napproval_timeout_seconds = 4\n")
def expires_then_yes(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    lab.until(lambda: not lab.ring.rows("pending"), 15, "the deadline")
    time.sleep(1)
    lab.dialog_stayed = s.state == "WAITING"
    late = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
    assert late.returncode == 5, late
    s.answer(s.digit("auto-accept", "Yes, and"), why="approved in the agent")
    settle(lab, s)


@plan("the wait is over before anybody decides; the row stays, and the prompt is answered in the agent",
      {"status": "approved", "by": "agent", "execution": "completed", "session": "agent", "made": True, "dialog": "stayed"}, wait="3s")
def wait_over_then_yes(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    lab.ring.proposal(lambda r: not r["waiter"], "the end of the wait")
    lab.did("waiter ended", signal="TIME")
    lab.dialog_stayed = s.state == "WAITING"
    late = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
    assert "PLAN_APPROVAL_STALE" in late.stderr, late
    s.answer("1", why="approved in the agent")
    settle(lab, s)


@plan("ring-session abort from a second shell; the prompt stays and is answered there",
      {"status": "interrupted", "by": None, "execution": None, "session": "agent", "made": True, "dialog": "stayed"})
def abort_then_yes(lab):
    s = begin(lab)
    lab.ring.waited()
    shown(s)
    name = lab.ring.records()[0][0]
    done = lab.ring.run("ring-session", "abort", name)
    assert done.returncode == 0, done.stderr
    time.sleep(2)
    lab.dialog_stayed = s.state == "WAITING"
    s.answer("1", why="approved in the agent")
    settle(lab, s)


@plan("Escape in the agent's prompt, sent from a second shell; then another prompt",
      {"status": "interrupted", "by": None, "execution": None, "session": "plan", "agent": "plan", "made": False, "dialog": "closed"},
      turns=propose() + [{"text": "Something else."}])
def escape(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    s.answer("Escape", state="IDLE", why="left with Escape")
    lab.until(lambda: not waits(lab), 5, "the end of the waiter: the agent ends it with its prompt")
    lab.did("waiter ended", signal="TERM")
    time.sleep(4)
    late = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
    assert "PLAN_APPROVAL_STALE" in late.stderr, late
    s.submit("something else")
    settle(lab, s)


@plan("the waiter is killed; the agent's own prompt decides", {"status": "approved", "by": "agent", "execution": "completed", "session": "agent",
      "made": True, "dialog": "stayed"})
def kill_waiter(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    os.kill(row["waiter"]["pid"], 9)
    lab.did("waiter ended", signal="KILL")
    time.sleep(1.5)
    lab.dialog_stayed = s.state == "WAITING"
    late = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
    assert "PLAN_APPROVAL_STALE" in late.stderr, late
    s.answer("1", why="approved in the agent")
    settle(lab, s)


@plan("the agent is killed; its proposal is interrupted and no waiter is left", {"status": "interrupted", "by": None, "execution": None,
      "session": "plan", "made": False, "waiter": "gone"})
def kill_agent(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    os.kill(s.pid, 9)
    s.wait_exit()
    lab.until(lambda: not lab.ring.rows("pending"), 10, "the end of the proposal")
    late = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
    assert "PLAN_APPROVAL_STALE" in late.stderr, late
    lab.until(lambda: not os.path.exists("/proc/%d" % row["waiter"]["pid"]), 5, "the end of the waiter")


def own_prompt(label, wait="60s"):
    def play(lab):
        s = begin(lab)
        lab.ring.asked() if wait is None else lab.ring.waited()
        shown(s)
        if wait is None:
            row = lab.ring.asked()
            for words in (["approve", row["id"], "--permission", "ask"], ["reject", row["id"]]):
                late = lab.ring.run("ring-plan", *words)
                assert "no_waiter" in lab.ring.run("ring-plan", "--format", "json", *words).stderr and late.returncode, late
        s.answer(s.digit(*label), why="answered in the agent")
        settle(lab, s)
    return play


OWN = {"status": "approved", "by": "agent", "execution": "completed", "session": "agent", "made": True, "waiter": "gone"}
for name, label, wait, more in [
        ("own_yes_accepting", ("auto-accept", "auto mode", "Yes, and"), "60s", {"write": "free"}),
        ("own_yes_manually", ("manually",), "60s", {"permission": "ask", "agent": "default", "write": "asked"}),
        ("no_wait_yes", ("manually",), None, {"permission": "ask", "agent": "default", "write": "asked"})]:
    play_it = own_prompt(label, wait)
    play_it.__name__ = name
    plan("answered in the agent: " + label[0] + (" (entries without a wait)" if wait is None else ""), dict(OWN, **more), wait=wait)(play_it)


def own_no(wait="60s"):
    def play(lab):
        s = begin(lab)
        lab.ring.asked() if wait is None else lab.ring.waited()
        shown(s)
        s.key(s.digit("Tell Claude", "keep planning", "Type here"))
        time.sleep(0.6)
        s.type("use fewer steps")
        time.sleep(0.6)
        s.answer("Enter", why="remark sent")
        settle(lab, s)
    return play


for name, wait in [("own_remark", "60s"), ("no_wait_remark", None)]:
    play_it = own_no(wait)
    play_it.__name__ = name
    plan("sent back with a remark in the agent" + (" (entries without a wait)" if wait is None else ""),
         {"status": "interrupted", "by": None, "execution": None, "session": "plan", "agent": "plan", "made": False, "waiter": "gone"},
         wait=wait, turns=propose() + [{"text": "I will think again."}])(play_it)


@plan("approved in the agent with a remark typed into its prompt (Shift+Tab)", OWN)
def own_yes_feedback(lab):
    s = begin(lab)
    lab.ring.waited()
    shown(s)
    s.key(s.digit("Tell Claude", "keep planning", "Type here"))
    time.sleep(0.6)
    s.type("but keep it short")
    time.sleep(0.6)
    s.answer("BTab", why="approved with a remark")
    settle(lab, s)


@plan("the plan is edited in the agent's prompt (Ctrl+G), then approved there", dict(OWN, note="Edited in the agent's own prompt before it was approved there."), env={"EDITOR": "sed -i s/Say.so/Say.nothing/", "VISUAL": ""})
def own_yes_edited(lab):
    s = begin(lab)
    lab.ring.waited()
    shown(s)
    s.key("C-g")
    s.wait_text(r"Say.nothing", 10)
    time.sleep(1)
    s.answer("1", why="approved in the agent, edited")
    settle(lab, s)


@plan("approved in both places at once: one of them decides", {"status": "approved", "permission": "ask", "execution": "completed", "agent": "default",
      "session": "agent", "made": True})
def both_at_once(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    s.key("2")
    done = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
    s.claim("WORKING", "approved in both places, elsewhere with status %d" % done.returncode)
    settle(lab, s)


@plan("rejected, and the same text is proposed again, then approved", dict(APPROVED, permission="ask", agent="default", write="asked",
      rows=["approved", "rejected"]), turns=propose() + [{"tool": "ExitPlanMode", "input": {"plan": PLAN_TEXT}}, WRITE, {"text": "Done."}])
def same_plan_again(lab):
    s = begin(lab)
    row = decide(lab, s, "reject", "--note", "Are you sure?")
    decide(lab, s, "approve", "--permission", "ask", after=row["id"])
    settle(lab, s)


def ends(how, doing):
    def play(lab):
        s = begin(lab)
        row = lab.ring.waited()
        shown(s)
        doing(lab, s)
        s.wait_exit()
        lab.until(lambda: not lab.ring.rows("pending"), 10, "the end of the proposal")
        late = lab.ring.run("ring-plan", "approve", row["id"], "--permission", "ask")
        assert "PLAN_APPROVAL_STALE" in late.stderr, late
        lab.until(lambda: not os.path.exists("/proc/%d" % row["waiter"]["pid"]), 5, "the end of the waiter")
    play.__name__ = how
    return play


for how, about, doing in [("term_agent", "the agent is sent SIGTERM", lambda lab, s: os.kill(s.pid, 15)),
                          ("pane_closed", "the agent's pane is closed", lambda lab, s: lab.tmux("kill-pane", "-t", s.pane))]:
    plan(about + " while its plan waits", {"status": "interrupted", "by": None, "execution": None, "session": "plan", "made": False,
         "waiter": "gone"})(ends(how, doing))


@plan("print mode has no ExitPlanMode: nothing is proposed, and the gate holds", {"status": None, "made": False, "write": "none",
      "gate": ["WRITE_DISABLED_IN_PLAN"]}, args=())
def print_mode(lab):
    lab.print_mode("-p", "plan the change", "--permission-mode", "plan", timeout=40)
    time.sleep(1)


@plan("a person sets the session to plan mode, the agent is in its default mode: writes are denied, commands asked, and the agent may plan",
      dict(APPROVED, permission="ask", agent="default", write="asked", gate=["WRITE_DISABLED_IN_PLAN"]), args=(), allow=["Bash(touch:*)"],
      turns=[{"text": "Hello."}, WRITE, {"tool": "Bash", "input": {"command": "touch touched.txt", "description": "touch"}},
             {"tool": "EnterPlanMode", "input": {}}] + DO_IT)
def mode_of_a_person(lab):
    s = lab.start()
    s.submit("say hello")
    s.wait_state("IDLE")
    done = lab.ring.run("ring-session", "configure", lab.ring.records()[0][0], "--mode", "plan")
    assert done.returncode == 0, done.stderr
    s.submit("plan the change")
    s.wait_text(r"needs a person in plan mode", 20)
    time.sleep(1)
    s.answer("1", why="command approved")
    decide(lab, s, "approve", "--permission", "ask")
    settle(lab, s)


@plan("the agent is killed while its plan waits, resumed, and plans again", dict(APPROVED, permission="ask", agent="default", write="asked",
      rows=["approved", "interrupted"]), turns=propose() + propose(SECOND_TEXT) + [WRITE, {"text": "The plan is carried out."}])
def kill_and_resume(lab):
    s = begin(lab)
    row = lab.ring.waited()
    shown(s)
    os.kill(s.pid, 9)
    s.wait_exit()
    s = lab.start("--continue")
    s.submit("plan it again")
    decide(lab, s, "approve", "--permission", "ask", after=row["id"])
    settle(lab, s)


@plan("two sessions in one folder, each decided for itself", {"rows": ["rejected", "approved"], "made": True, "waiter": "gone"},
      turns=propose() + propose() + [WRITE, {"text": "The plan is carried out."}])
def two_sessions(lab):
    one = begin(lab)
    first = decide_later(lab, one, None)
    two = begin(lab)
    second = decide_later(lab, two, first)
    assert {r["id"] for r in lab.ring.rows("pending")} == {first, second}
    assert lab.ring.run("ring-plan", "approve", first, "--permission", "accept-edits").returncode == 0
    one.claim("WORKING", "approved from a second shell")
    settle(lab, one)
    assert [r["id"] for r in lab.ring.rows("pending")] == [second]
    assert lab.ring.run("ring-plan", "reject", second).returncode == 0
    two.claim("WORKING", "rejected from a second shell")
    time.sleep(3)


def decide_later(lab, s, other):
    row = lab.ring.proposal(lambda r: r["waiter"] and r["id"] != other, "a waiter", 30)
    shown(s)
    return row["id"]


@plan("Shift+Tab leaves plan mode after a rejection, and the next prompt writes", {"status": "rejected", "session": "agent", "made": True,
      "gate": []}, turns=propose() + [{"text": "Then I stop."}, WRITE, {"text": "Written."}])
def leaves_by_key(lab):
    s = begin(lab)
    decide(lab, s, "reject", "--note", "Not this way.")
    settle(lab, s)
    for _ in range(6):
        s.key("BTab")
        time.sleep(0.7)
        if "plan mode" not in s.capture():
            break
    s.submit("write it at once")
    settle(lab, s)


@plan("the agent enters plan mode by itself, and is approved from a second shell", dict(APPROVED, permission="ask", agent="default", write="asked"),
      args=(), turns=[{"tool": "EnterPlanMode", "input": {}}] + DO_IT)
def enters_by_itself(lab):
    approve("ask")(lab)


@plan("approved elsewhere, then a second prompt: the session goes on in the approved mode",
      dict(APPROVED, permission="accept-edits", agent="acceptEdits", write="free", turns=2),
      turns=DO_IT + [{"tool": "Edit", "input": {"file_path": "@CWD@/made.txt", "old_string": "made", "new_string": "made again"}, "find": CWD},
                     {"text": "Changed."}])
def approve_then_prompt(lab):
    approve("accept-edits")(lab)
    s = lab.sessions[0]
    s.submit("change it")
    settle(lab, s)


def look_first(name, tool, about, **spec):
    """The agent looks around with tools of its own before it proposes; the gate must not stand in its way."""
    @plan(about, dict(APPROVED, permission="ask", agent="default", write="asked", gate=[]), turns=[tool] + DO_IT, **spec)
    def play(lab):
        s = begin(lab)
        lab.until(lambda: "Launch a new agent" in s.screen or waits(lab), 20, "a waiter, or leave to start an agent")
        if not waits(lab):
            time.sleep(0.7)
            s.choose("Yes", state="WORKING", why="may start an agent: this service has no check of auto mode")
        decide(lab, s, "approve", "--permission", "ask")
        settle(lab, s)
    ALL[name] = ALL.pop("play")


look_first("looks_by_agent", {"tool": "Agent", "input": {"description": "look around", "prompt": CHILD + ": look around", "subagent_type": "Explore",
           "run_in_background": False}}, "an Explore agent first", child=[{"text": "There is nothing."}])
look_first("looks_for_tools", {"tool": "ToolSearch", "input": {"query": "select:ExitPlanMode,TaskCreate", "max_results": 5}}, "the agent loads ExitPlanMode first")
look_first("looks_by_tasks", {"tool": "TaskCreate", "input": {"subject": "Think", "description": "Think.", "activeForm": "Thinking"}}, "the agent notes a task first")
look_first("looks_by_shell", {"tool": "Bash", "input": {"command": "ls", "description": "look"}}, "the agent lists files first")


@plan("a write in plan mode is denied by the gate", dict(APPROVED, permission="ask", agent="default", write="asked", gate=["WRITE_DISABLED_IN_PLAN"]),
      turns=[WRITE] + DO_IT)
def gate_denies(lab):
    approve("ask")(lab)


# -- Codex: only the gate's denial is answered ---------------------------------------------------------


def codex_gate(lab):
    """A person sets a Codex session to plan mode: a patch is denied with the code, a command is Codex's own matter."""
    import codex_lab
    patch = "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n"
    lab.start({"turns": [codex_lab.turn(codex_lab.say("Hello.")), codex_lab.turn(codex_lab.shell("echo looked")),
                         codex_lab.turn(codex_lab.patch(patch)), codex_lab.turn(codex_lab.say("It was denied."), delay_ms=300),
                         codex_lab.turn(codex_lab.patch(patch)), codex_lab.turn(codex_lab.say("It is made."), delay_ms=300)]})
    pane = lab.tui()
    found = {}
    for prompt, answer, mode in [("say hello", "Hello", None), ("make the file", "It was denied", "plan"), ("make it now", "It is made", "agent")]:
        if mode:
            done = lab.ring.run("ring-session", "configure", lab.ring.records()[0][0], "--mode", mode)
            assert done.returncode == 0, done.stderr
        pane.submit(prompt)
        pane.wait(answer, 25)
        pane.wait_state("IDLE")
        time.sleep(1)
        found["made in " + (mode or "first")] = os.path.exists(os.path.join(lab.project, "made.txt"))
    with open(os.path.join(lab.out, "hooks.jsonl"), encoding="utf-8") as file:
        hooks = [json.loads(line) for line in file]
    found["tools"] = sorted({h["payload"]["tool_name"] for h in hooks if h["event"] == "PreToolUse"})
    with open(os.path.join(lab.out, "requests.jsonl"), encoding="utf-8") as file:
        found["gate"] = sorted(set(re.findall(r"[A-Z]+_DISABLED_IN_PLAN", file.read())))
    codex_lab.goodbye(lab, pane)
    return found


CODEX = {"codex_gate": (codex_gate, {"made in first": False, "made in plan": False, "made in agent": True, "tools": ["Bash", "apply_patch"],
         "gate": ["EDIT_DISABLED_IN_PLAN"]})}


# -- what is seen in the end --------------------------------------------------------------------------


def seen(lab):
    """Of the record, of the hook payloads, of the transcript and of the project."""
    ring = lab.ring
    rows = ring.rows("history")
    rows += ring.rows("pending")
    open_rows = [r["proposal"] for _, r in ring.records() if r.get("proposal")]
    ids = {r["id"] for r in rows}
    rows += [r for r in open_rows if r["id"] not in ids]
    rows.sort(key=lambda r: r["created_ms"], reverse=True)
    newest = rows[0] if rows else {}
    record = ring.records()[0][1] if ring.records() else {}
    hooks = lab.hook_events()
    left = [i for i, h in enumerate(hooks) if h["event"] == "PermissionRequest" and h["payload"].get("tool_name") == "ExitPlanMode"]
    after = hooks[left[-1] + 1:] if left else []
    modes = [h["payload"]["permission_mode"] for h in after if h["payload"].get("permission_mode")]
    wrote = [h["event"] for h in after if h["payload"].get("tool_name") == "Write"]
    texts = transcript(lab)
    wanted = lab.spec["expected"].get("told")
    found = {
        "status": newest.get("status"), "by": newest.get("decided_by"), "permission": newest.get("permission_mode"), "note": newest.get("note"),
        "execution": (newest.get("execution") or {}).get("state"), "session": record.get("mode"),
        "agent": modes[-1] if modes else None,
        "transcript": [line["permissionMode"] for line in texts if line.get("permissionMode")][-1:],
        "made": os.path.exists(os.path.join(lab.cwd, "made.txt")),
        "write": "asked" if "PermissionRequest" in wrote else "free" if "PostToolUse" in wrote else "denied" if wrote else "none",
        "dialog": "stayed" if getattr(lab, "dialog_stayed", False) else "closed",
        "waiter": "gone" if not waiters(lab) else "left",
        "rows": [r["status"] for r in rows],
        "turns": len(record.get("turns", [])),
    }
    found["gate"] = sorted(set(re.findall(r"[A-Z]+_DISABLED_IN_PLAN|PLAN_ALREADY_ACTIVE|PLAN_NOT_ACTIVE", json.dumps(texts))))
    if wanted:
        found["told"] = wanted if any(wanted in json.dumps(line) for line in texts) else None
    return found


def transcript(lab):
    lines = []
    for folder, _, names in os.walk(os.path.join(lab.home, ".claude", "projects")):
        for name in sorted(names):
            if name.endswith(".jsonl"):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    lines += [json.loads(line) for line in file if line.strip()]
    return lines


def waiters(lab):
    """Processes `ring-plan hook` of this home."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().split(b"\0")
            with open("/proc/%s/environ" % name, "rb") as file:
                mine = ("HOME=" + lab.home).encode() in file.read().split(b"\0")
        except OSError:
            continue
        if mine and words[0].endswith(b"ring-plan") and b"hook" in words:
            found.append(int(name))
    return found


def configure(lab):
    """Settings of ring in the laboratory's home."""
    if lab.spec["config"]:
        folder = os.path.join(lab.home, ".config", "ring")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
            file.write(lab.spec["config"])


def keep(lab):
    """The records beside the laboratory's own recording, and the run as a fixture for ring-plan's tests."""
    replay(lab)
    with open(os.path.join(lab.out, "ring.json"), "w", encoding="utf-8") as file:
        json.dump({"seen": seen(lab), "sessions": dict(lab.ring.records()), "history": lab.ring.rows("history")}, file, indent=1)


# What our entries read of a payload; the rest is bulk.
KEPT = """hook_event_name session_id cwd permission_mode prompt_id prompt tool_name tool_use_id tool_input source reason
error agent_id agent_type stop_hook_active background_tasks""".split()


def replay(lab):
    """replay.jsonl: the payloads of our entries and what was done beside them, in order and without a path of this machine."""
    rows = sorted(lab.ring.rows("history") + lab.ring.rows("pending"), key=lambda r: r["created_ms"])
    names = {lab.cwd: "@PROJECT@", lab.home: "@HOME@", lab.root: "@ROOT@", re.sub(r"[^A-Za-z0-9-]", "-", lab.root): "@ROOT@"}
    names.update({r["id"]: "@ROW%d@" % i for i, r in enumerate(rows)})
    sessions = {h["payload"].get("session_id") for h in lab.hook_events()} - {None}
    names.update({name: "@SESSION%d@" % i for i, name in enumerate(sorted(sessions))})
    ours = set("SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Stop StopFailure SessionEnd".split())
    lines = []
    for hook in lab.hook_events():
        if hook["event"] in ours:
            payload = {k: v for k, v in hook["payload"].items() if k in KEPT}
            if hook["payload"].get("tool_name") == "ExitPlanMode" and "tool_response" in hook["payload"]:
                payload["tool_response"] = hook["payload"]["tool_response"]
            lines.append((hook["t_ms"], {"payload": payload}))
    changing = {"approve", "reject", "abort", "configure"}
    for act in read_lines(os.path.join(lab.out, "actions.jsonl")):
        if act["did"] == "second shell" and changing & set(act["args"]):
            lines.append((act["t_ms"], {"run": act["args"], "status": act["status"]}))
        elif act["did"] == "waiter ended":
            lines.append((act["t_ms"], {"waiter": act["signal"]}))
    lines.sort(key=lambda line: line[0])
    first = lines[0][0] if lines else 0
    found = seen(lab)
    end = {"mode": found["session"], "gate": found["gate"], "rows": [dict({k: r[k] for k in ("status", "decided_by", "permission_mode", "note", "error_code")},
           execution=(r["execution"] or {}).get("state")) for r in rows]}
    head = {"agent": "claude-code", "version": lab.version, "scenario": lab.name, "about": lab.spec["about"], "wait": lab.spec["wait"],
            "config": lab.spec["config"]}
    text = "".join(json.dumps(line) + "\n" for line in [head] + [dict({"ms": ms - first}, **line) for ms, line in lines] + [{"end": end}])
    for name, word in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, word)
    with open(os.path.join(lab.out, "replay.jsonl"), "w", encoding="utf-8") as file:
        file.write(text)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def expected(spec, version):
    """With what a version does otherwise."""
    return dict(spec["expected"], **spec.get("in_version", {}).get(version, {}))
