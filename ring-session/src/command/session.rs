//! `new`, `show`, `configure`, `delete`.

use crate::body::{bad, within};
use crate::cli::Context;
use ring_session::record::{Mode, ModeBy, PermissionMode, Record};
use ring_session::store::{Seen, is_id};
use ring_session::table;
use ring_session::work::{Here, Work};
use ring_session::{Code, Refusal, id, shown, text, transcript};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Makes a session.
#[derive(Debug, clap::Args)]
pub struct New {
    /// Title; without one the first prompt names it
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
    /// Folder of the work; none if not given
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// agent, plan or goal
    #[arg(long)]
    mode: Option<String>,
    /// inherit, ask, accept-edits or auto
    #[arg(long, value_name = "MODE")]
    permission: Option<String>,
    /// Id to take, of letters, digits, _ and -
    #[arg(long)]
    id: Option<String>,
    /// Agent that works in it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The agent's own id of it
    #[arg(long, value_name = "ID")]
    agent_session: Option<String>,
}

/// Shows one session.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Session
    id: String,
}

/// Changes a session.
#[derive(Debug, clap::Args)]
pub struct Configure {
    /// Session
    id: String,
    /// agent, plan or goal
    #[arg(long)]
    mode: Option<String>,
    /// inherit, ask, accept-edits or auto
    #[arg(long, value_name = "MODE")]
    permission: Option<String>,
    /// Title
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
    /// A setting of your own; K= removes it
    #[arg(long, value_name = "K=V")]
    set: Vec<String>,
}

/// Removes a session.
#[derive(Debug, clap::Args)]
pub struct Delete {
    /// Session
    id: String,
    /// Abort first what is running
    #[arg(long)]
    force: bool,
}

fn title(given: &str) -> Result<String, Refusal> {
    let title = text::for_terminal(given.trim());
    if title.is_empty() {
        return Err(bad("the title is blank"));
    }
    within("--title", title.chars().count(), 80)?;
    Ok(title)
}

/// A title of `new`, `configure` and `fork`.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`.
pub fn checked_title(given: Option<&str>) -> Result<Option<String>, Refusal> {
    given.map(title).transpose()
}

fn mode(word: &str) -> Result<Mode, Refusal> {
    Mode::from_word(word).ok_or_else(|| bad(format!("no mode {word:?}; agent, plan or goal")))
}

fn permission(word: &str) -> Result<PermissionMode, Refusal> {
    PermissionMode::from_word(word).ok_or_else(|| {
        bad(format!(
            "no permission mode {word:?}; inherit, ask, accept-edits or auto"
        ))
    })
}

/// Runs `new`.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, `CONFLICT`, `IO`.
pub fn new(args: New, context: &mut Context<'_>) -> Result<(), Refusal> {
    let now = context.store.here().now;
    let mut record = Record {
        created_ms: now,
        ..Record::default()
    };
    if let Some(title) = checked_title(args.title.as_deref())? {
        record.title = title;
        record.title_auto = false;
    }
    if let Some(word) = &args.mode {
        record.mode = mode(word)?;
    }
    if let Some(word) = &args.permission {
        record.permission_mode = permission(word)?;
    }
    if let Some(agent) = &args.agent {
        within("--agent", agent.len(), 40)?;
        record.agent = text::for_terminal(agent);
    }
    if let Some(session) = args.agent_session {
        within("--agent-session", session.len(), 4096)?;
        record.agent_session_id = session;
    }
    if let Some(project) = &args.project {
        let real = std::fs::canonicalize(project).ok().filter(|p| p.is_dir());
        let real = real.ok_or_else(|| bad(format!("--project {} is no folder", project.display())))?;
        let real = real.into_os_string().into_string();
        record.project = Some(real.map_err(|_| bad("--project must have a name in UTF-8"))?);
    }
    record.id = match args.id {
        None => id::mint(now),
        Some(id) if id.len() > 128 => return Err(within("--id", id.len(), 128).err().unwrap_or_else(|| bad("--id"))),
        Some(id) if is_id(&id) => id,
        Some(id) => return Err(bad(format!("--id {id:?} must have 1 to 128 letters, digits, _ or -"))),
    };
    let record = context.store.create(record, &[])?;
    let id = record.id.clone();
    let object = shown::session_object(
        &Seen {
            record,
            recovered: false,
        },
        context.store.here(),
        context.inherited(),
    );
    context.print(&object, |out| writeln!(out, "{id}"))
}

/// Runs `show`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AMBIGUOUS`.
pub fn show(args: &Show, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let seen = context.store.see(&id)?;
    let object = shown::session_object(&seen, context.store.here(), context.inherited());
    let facts = facts(&seen, context.store.here(), context.inherited());
    let id = seen.record.id;
    context.print(&object, |out| {
        writeln!(out, "{id}")?;
        table::facts(out, &facts)
    })
}

/// A session for people.
fn facts(seen: &Seen, here: &Here, inherited: PermissionMode) -> Vec<(&'static str, String)> {
    let work = Work::new(seen.record.clone(), here.clone());
    let shown = shown::shown(&work);
    let record = &seen.record;
    let some = |is: bool, text: String| if is { text } else { String::new() };
    let last = some(!shown.last.is_empty(), format!(", last turn {}", shown.last));
    let planning = some(
        shown.planning_state != "inactive",
        format!(", {}", shown.planning_state.replace('_', " ")),
    );
    let mut facts = vec![
        ("title", record.title.clone()),
        ("status", format!("{}{last}", shown.status)),
    ];
    if let Some(turn) = &record.turn {
        facts.push(("turn", format!("{} ({})", turn.id, turn.origin.as_str())));
    }
    facts.push(("mode", format!("{}{planning}", record.mode.as_str())));
    let effective = shown::effective_mode(record, inherited);
    facts.push(("permission", effective.as_str().to_owned()));
    if !record.agent.is_empty() {
        facts.push(("agent", format!("{} {}", record.agent, record.agent_session_id)));
    }
    facts.extend(record.project.clone().map(|p| ("project", p)));
    let held = work.queue_is_held();
    if !record.queue.entries.is_empty() || held {
        let count = record.queue.entries.len();
        facts.push(("queue", format!("{count} queued{}", some(held, ", held".into()))));
    }
    let mut ids: Vec<String> = record.permissions.iter().map(|r| r.id.clone()).collect();
    ids.sort_unstable();
    for request in record.permissions.iter().filter(|r| r.decision.is_none()) {
        let id = table::short(&ids, &request.id);
        facts.push(("asks", format!("{id} {} {}", request.tool, request.reason)));
    }
    let unread = record.notifications.iter().filter(|n| n.read_ms.is_none()).count();
    facts.push(("unread", unread.to_string()));
    facts.push(("messages", record.transcript.rows.to_string()));
    facts
}

/// Runs `configure`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, `PLAN_CONFIGURATION_BLOCKED`, and those of the store.
pub fn configure(args: Configure, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let title = checked_title(args.title.as_deref())?;
    let mode = args.mode.as_deref().map(mode).transpose()?;
    let permission = args.permission.as_deref().map(permission).transpose()?;
    let changes: Vec<(String, String)> = args.set.iter().map(|s| setting(s)).collect::<Result<_, _>>()?;
    let ((), record) = context.store.update(&id, |work, _| {
        let record = &work.record;
        let mut settings = record.settings.clone();
        apply(&mut settings, &changes)?;
        let mode = mode.unwrap_or(record.mode);
        let permission = permission.unwrap_or(record.permission_mode);
        let changed = (mode, permission) != (record.mode, record.permission_mode) || settings != record.settings;
        if changed && let Some(busy) = work.busy(false) {
            let reason = busy.details.get("reason").cloned().unwrap_or_default();
            return Err(Refusal::new(Code::PlanConfigurationBlocked, "mode, permission and settings stay as they are while something runs or awaits a decision; only the title may change").with("reason", reason));
        }
        let titled = title.as_ref().is_some_and(|t| *t != work.record.title || work.record.title_auto);
        if let Some(title) = &title {
            work.record.title.clone_from(title);
            work.record.title_auto = false;
        }
        if mode != work.record.mode {
            work.record.mode = mode;
            work.record.mode_by = ModeBy::User;
        }
        work.record.permission_mode = permission;
        work.record.settings = settings;
        if changed || titled {
            work.announce("session_configured", serde_json::json!({}));
        }
        Ok(())
    })?;
    let object = shown::session_object(
        &Seen {
            record,
            recovered: false,
        },
        context.store.here(),
        context.inherited(),
    );
    context.print(&object, |_| Ok(()))
}

fn setting(text: &str) -> Result<(String, String), Refusal> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| bad(format!("--set {text:?} must be K=V")))?;
    if key.is_empty() || key.chars().any(char::is_control) {
        return Err(bad(format!("--set {text:?} has no usable key")));
    }
    within("the key of --set", key.len(), 64)?;
    within("the value of --set", value.len(), 1000)?;
    Ok((key.to_owned(), value.to_owned()))
}

fn apply(settings: &mut BTreeMap<String, String>, changes: &[(String, String)]) -> Result<(), Refusal> {
    for (key, value) in changes {
        if value.is_empty() {
            settings.remove(key);
        } else {
            settings.insert(key.clone(), value.clone());
        }
    }
    within("the number of settings", settings.len(), 32)
}

/// Runs `delete`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AGENT_BUSY`, and those of the store.
pub fn delete(args: &Delete, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    context.store.delete(&id, |work, files| {
        if !args.force {
            return work.busy(false).map_or(Ok(()), Err);
        }
        let behind = crate::command::turn::behind(work, files)?;
        work.abort(&behind);
        Ok(())
    })?;
    context.print(&serde_json::json!({"ok": true}), |_| Ok(()))
}

/// The size of a session's transcript, for those who look behind a row.
///
/// # Errors
/// `IO`.
pub fn transcript_size(files: &ring_session::store::Files) -> Result<u64, Refusal> {
    let path = files.transcript();
    transcript::size(&path).map_err(|e| Refusal::io("read", &path, &e))
}
