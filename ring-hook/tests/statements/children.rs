//! Children: their waits are theirs, and the host's turn is not.

use super::notation::{after, table};
use ring_hook::advance::Effect;

#[test]
fn h29_events_of_a_child_neither_revive_nor_end_the_host() {
    table(
        "
        Prompt Q Pre(Bash x)^a Post(Bash x)^a -> waiting question
        Prompt D Pre(Bash x)^a -> idle
        Prompt D^a -> working
        Prompt Note(auth_success)^a -> working
        Prompt D SubagentStop^a -> idle
        Prompt Interrupt^a -> working
        ",
    );
}

#[test]
fn h30_a_childs_wait_ends_with_its_own_next_event() {
    let asked = after("Prompt Note(permission_prompt)^a").shows("waiting permission | 1");
    assert_eq!(asked.wait().owner, "agent:a");
    let asked = asked.then("Pre(Bash x)").shows("waiting permission");
    let asked = asked.then("Post(Bash x)^b").shows("waiting permission");
    asked.then("Post(Bash x)^a").shows("working");
    after("Prompt Note(permission_prompt)^a SubagentStop^a").shows("working");
    after("Prompt Note(permission_prompt)^a Note(idle_prompt)^a").shows("waiting permission");
    after("Prompt Note(permission_prompt)^a Note(elicitation_complete)^a").shows("waiting permission");
    after("Prompt Elicitation(Which?)^a Note(elicitation_complete)^a").shows("working");
    after("Prompt Elicitation(Which?)^a Note(elicitation_complete)").shows("waiting question");
}

#[test]
fn h31_a_prompt_and_a_start_end_every_wait() {
    after("Prompt Note(permission_prompt)^a Prompt(b)").shows("working | 0");
    after("Prompt Note(permission_prompt)^a Start").shows("working | 0");
    after("Prompt Note(permission_prompt)~e Prompt(b)").shows("working | 0");
}

#[test]
fn h32_two_children_are_two_waits_and_two_rings() {
    let both = after("Prompt Note(permission_prompt|one)^a Note(permission_prompt|two)^b");
    assert_eq!(both.rings(), ["wait-1", "wait-2"]);
    let both = both.shows("waiting permission \"one\" | 2");
    let rest = both.then("Post(Bash x)^a").shows("waiting permission \"two\" | 1");
    rest.then("Q").shows("waiting question \"Shall I go on?\" | 2");
}

#[test]
fn h33_a_prompt_without_an_owner_takes_the_only_request() {
    let only = after("Prompt Perm(Bash x)^a Note(permission_prompt)");
    let only = only.shows("waiting permission \"Bash: x\" | 1");
    assert_eq!(only.wait().owner, "agent:a");
    let both = after("Prompt Perm(Bash x)^a Perm(Bash y)^b Note(permission_prompt)");
    let both = both.shows("waiting permission \"own message\" | 1");
    assert_eq!(both.wait().owner, "foreground");
    let named = after("Prompt Perm(Bash x)^a Perm(Bash y)^b Note(permission_prompt)^b");
    let named = named.shows("waiting permission \"Bash: y\" | 1");
    assert_eq!(named.wait().owner, "agent:b");
}

#[test]
fn h34_the_end_of_a_child_ends_only_the_child() {
    let left =
        after("Prompt Perm(Bash x)^a Note(permission_prompt|two)^b Perm(Bash z)^b Note(permission_prompt|m)^a End^a");
    let row = left.row();
    assert!(row.waits.iter().all(|w| w.owner != "agent:a"), "{row:#?}");
    assert!(row.pending.iter().all(|p| p.owner != "agent:a"), "{row:#?}");
    assert!(row.pending.iter().any(|p| p.owner == "agent:b"), "{row:#?}");
    assert_eq!(left.row().children.len(), 1);
    let typed = after("Prompt End~Explore").shows("working");
    assert_eq!(typed.last_effect(), Effect::SeenOnly);
}

#[test]
fn h35_a_session_with_an_agent_profile_is_its_own_foreground() {
    table(
        "
        Start~r Prompt D~r -> idle
        Start~r Prompt Q~r -> waiting question
        Prompt~r End~r -> null
        Start~r Note(permission_prompt)~r Post(Bash x)~r D~r -> idle
        ",
    );
    let other = after("Start~r Prompt Note(permission_prompt)~e").shows("waiting permission");
    assert_eq!(other.wait().owner, "unknown");
    let other = other.then("Post(Bash x)").shows("waiting permission");
    other.then("D").shows("idle");
    after("Prompt Note(permission_prompt)~e Post(Bash x)~e").shows("working");
    after("Prompt Note(permission_prompt)~e Post(Bash x)~f").shows("waiting permission");
    after("Prompt Note(permission_prompt)~e Fail(x)").shows("idle");
}

#[test]
fn h36_a_childs_place_and_question_are_not_the_hosts() {
    let first =
        after(r#"Pre(Bash x)^a{"cwd":"/child","transcript_path":"/c.jsonl","tty":"/dev/pts/9"}"#).shows("working");
    let row = first.row();
    assert_eq!((row.cwd.as_str(), row.origin_cwd.as_str()), ("", ""));
    assert_eq!((row.transcript_path.as_str(), row.term.tty.as_str()), ("", ""));
    assert_eq!((row.foreground_ms, row.children.len()), (0, 1));
    after("Prompt Q^a").shows("working | 0");
    after("D^a").shows("null");
    after("SubagentStop^a").shows("null");
    after("End^a").shows("null");
    after("Note(permission_prompt)^a").shows("waiting permission");
}

const ONE: &str = r#"{"background_tasks":[{"id":"a","type":"subagent","status":"running"}]}"#;

#[test]
fn h43_the_list_of_tasks_says_who_is_left() {
    let waiting = after(&format!("Prompt Pre(Bash x)^a D{ONE}")).shows("working");
    assert_eq!(waiting.row().background, 1);
    let done = waiting.then(r#"SubagentStop^a{"background_tasks":[]}"#).shows("idle");
    done.then(r#"+5 SubagentStop^a{"background_tasks":[]}"#).shows("idle");
    after(&format!("Prompt Pre(Bash x)^a D{ONE} SubagentStop^a")).shows("idle");
    after(&format!("Prompt D{ONE} SubagentStop^b")).shows("working");
    after(&format!("Prompt D{ONE} +60 Note(idle_prompt)")).shows("working");
    let gone = after(r#"Prompt Note(permission_prompt)^a D{"background_tasks":[]}"#).shows("idle");
    assert!(gone.row().children.is_empty());
}

#[test]
fn h81_a_background_child_asks_after_the_hosts_stop() {
    let asked = after(&format!("Prompt Pre(Bash x)^a D{ONE}")).shows("working");
    let asked = asked.then(&format!("+1 Perm(Bash rm)^a +3 D{ONE} +3 Note(permission_prompt)"));
    let asked = asked.shows("waiting permission \"Bash: rm\" | 1");
    assert_eq!(asked.wait().owner, "agent:a");
    let went = asked.then("Post(Bash rm)^a").shows("working");
    let stopped = went.then(&format!("SubagentStop^a{ONE}")).shows("working");
    stopped.then(r#"Prompt(next) D{"background_tasks":[]}"#).shows("idle");
}

#[test]
fn children_are_bounded_and_forgotten_after_half_an_hour() {
    let many: String = (0..100).map(|n| format!("Pre(Bash x)^c{n} ")).collect();
    assert_eq!(after(&format!("Prompt {many}")).row().children.len(), 64);
    let old = after("Prompt Pre(Bash x)^a Note(permission_prompt)^b +1801 Post(Bash x)");
    assert_eq!(old.row().children.len(), 1, "the one that waits stays");
    let fresh = after("Prompt Pre(Bash x)^a +1800 Post(Bash x)");
    assert_eq!(fresh.row().children.len(), 1);
}

#[test]
fn more_waits_than_fit_leave_the_newest_and_the_foregrounds() {
    let many: String = (0..40).map(|n| format!("Note(permission_prompt|{n})^c{n} ")).collect();
    let row = after(&format!("Prompt Q {many}"));
    assert_eq!(row.row().waits.len(), 32);
    row.shows("waiting question");
}
