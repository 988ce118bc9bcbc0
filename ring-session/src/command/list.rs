//! `list`: every session, newest update first.

use crate::TOOL;
use crate::cli::Context;
use crate::command::table;
use ring_session::Refusal;
use ring_session::members::Object;
use ring_session::shown;
use ring_session::time::human_span;
use ring_session::work::Work;
use std::io::Write;

/// Runs it.
///
/// # Errors
/// `IO` of the directory. A record that cannot be read hides no other and is named on stderr.
pub fn run(context: &mut Context<'_>) -> Result<(), Refusal> {
    let (mut seen, broken) = context.store.see_all()?;
    for refusal in broken {
        // a closed stderr leaves nobody to tell
        writeln!(
            std::io::stderr(),
            "{TOOL}: {}",
            ring_session::text::for_terminal(&refusal.message)
        )
        .unwrap_or_default();
    }
    seen.sort_by(|a, b| {
        b.record
            .updated_ms
            .cmp(&a.record.updated_ms)
            .then_with(|| b.record.id.cmp(&a.record.id))
    });
    let ids: Vec<String> = seen.iter().map(|s| s.record.id.clone()).collect();
    let now = context.store.here().now;
    let (mut objects, mut rows) = (Vec::new(), Vec::new());
    for one in &seen {
        let record = &one.record;
        let shown = shown::shown(&Work::new(record.clone(), context.store.here().clone()));
        let unread = record.notifications.iter().filter(|n| n.read_ms.is_none()).count();
        let queued = record.queue.entries.len();
        let all = shown::session_object(one, context.store.here(), context.inherited());
        let mut object = Object::default();
        for name in [
            "id",
            "title",
            "agent",
            "project",
            "mode",
            "permission_mode",
            "status",
            "planning_state",
            "planning_kind",
            "board",
            "busy",
            "last",
        ] {
            if let Some(value) = all.raw(name) {
                object.put(name.to_owned(), value.clone());
            }
        }
        object.set("unread", &unread);
        object.set("queued", &queued);
        object.set("updated_ms", &record.updated_ms);
        objects.push(object);
        rows.push(vec![
            table::short(&record.id, &ids).to_owned(),
            shown.status.to_owned(),
            shown.last.to_owned(),
            if queued > 0 {
                format!("{queued} queued")
            } else {
                String::new()
            },
            if unread > 0 {
                format!("{unread} unread")
            } else {
                String::new()
            },
            human_span(now - record.updated_ms),
            record.agent.clone(),
            record.title.clone(),
        ]);
    }
    context.print_list(&objects, |out| table::write(out, &rows))
}
