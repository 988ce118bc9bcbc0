//! `outlets`: each outlet, and whether it can be used.

use crate::command::deliver::rules;
use crate::ledger::{self, State};
use crate::moment::local;
use crate::outlet::{Outlet, Way};
use crate::send;
use jiff::tz::TimeZone;
use ring_session::context::Context;
use ring_session::table::{self, Table};
use ring_session::{Refusal, state_dir};
use serde_json::{Map, Value, json};

/// Runs it. Never writes.
///
/// # Errors
/// `SCHEMA_NEWER`, `IO`.
pub fn run(context: &mut Context<'_>) -> Result<(), Refusal> {
    let rules = rules(context);
    let now = context.now();
    let ledger = ledger::read(&context.place.state())?.ledger;
    let mut all = Vec::new();
    for outlet in &rules.outlets {
        let usable = send::usable(&outlet.way);
        let retries = ledger
            .items
            .values()
            .filter(|e| e.to.get(&outlet.name).is_some_and(|t| t.state == State::Retry))
            .count();
        let known = ledger.outlets.get(&outlet.name).filter(|o| o.last_ms > 0);
        let (last, last_ms) = known.map_or((None, None), |o| (Some(o.last.clone()), Some(o.last_ms)));
        let in_hours = outlet.hours.as_ref().map(|h| h.hold(now, &TimeZone::system()));
        let mut secrets: Map<String, Value> = send::shown(&outlet.way)
            .into_iter()
            .map(|(name, shown)| (name, shown.into()))
            .collect();
        if outlet.way == Way::Auto {
            secrets.insert("by".into(), send::auto_goes_by().into());
        }
        all.push(json!({
            "name": outlet.name,
            "type": outlet.way.as_str(),
            "usable": usable.is_ok(),
            "why": usable.err(),
            "filters": filters(outlet),
            "hours": outlet.hours.as_ref().map(|h| format!("{}-{}", h.start.strftime("%H:%M"), h.end.strftime("%H:%M"))),
            "in_hours": in_hours,
            "retries": retries,
            "last": last,
            "last_ms": last_ms,
            "settings": secrets,
        }));
    }
    let text = |v: &Value, key: &str| v[key].as_str().unwrap_or_default().to_owned();
    let cells = |v: &Value| {
        let why = match v["usable"].as_bool() {
            Some(true) => "usable".to_owned(),
            _ => format!("not usable: {}", text(v, "why")),
        };
        let hours = match v["in_hours"].as_bool() {
            Some(true) => format!("quiet now ({})", text(v, "hours")),
            _ => text(v, "hours"),
        };
        let settings = v["settings"].as_object().into_iter().flatten();
        let settings: Vec<String> = settings
            .map(|(name, value)| format!("{name} {}", value.as_str().unwrap_or_default()))
            .collect();
        let last = match v["last_ms"].as_i64() {
            Some(ms) => format!("last {} {}", text(v, "last"), local(ms, now)),
            None => String::new(),
        };
        let retries = match v["retries"].as_u64() {
            Some(n) if n > 0 => format!("{n} to retry"),
            _ => String::new(),
        };
        let filters = v["filters"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let rest: Vec<String> = filters
            .map(str::to_owned)
            .chain([hours, settings.join(", "), last, retries])
            .filter(|t| !t.is_empty())
            .collect();
        [text(v, "name"), text(v, "type"), why, rest.join("; ")]
    };
    let table = Table {
        dispensable: &[1],
        cuttable: &[],
        limit: table::limit(),
    };
    let document = json!({"schema": 1, "outlets": all});
    context.print(&document, |out| match all.is_empty() {
        true => writeln!(
            out,
            "no outlet: nothing rings (notify.outlet is empty or none of it is good, or notify_backend is none)"
        ),
        false => table.write(out, &all, cells),
    })
}

fn filters(outlet: &Outlet) -> Vec<String> {
    let mut filters = Vec::new();
    let list = |name: &str, values: &[String]| (!values.is_empty()).then(|| format!("{name} {}", values.join(", ")));
    filters.extend(list("kinds", &outlet.kinds));
    filters.extend(list("agents", &outlet.agents));
    let home = state_dir::home()
        .map(|h| h.to_string_lossy().into_owned())
        .unwrap_or_default();
    let short = |glob: &str| match glob.strip_prefix(home.as_str()) {
        Some(rest) if !home.is_empty() => format!("~{rest}"),
        _ => glob.to_owned(),
    };
    let any = outlet.projects.any.iter().map(|g| short(g.glob().glob()));
    let none = outlet
        .projects
        .none
        .iter()
        .map(|g| format!("!{}", short(g.glob().glob())));
    filters.extend(list("projects", &any.chain(none).collect::<Vec<_>>()));
    let switches = [
        (!outlet.repeat, "no repeats"),
        (outlet.skip_when_looking, "not while looked at"),
        (outlet.retry_unconfirmed, "retries what is unconfirmed"),
        (outlet.brief, "brief"),
    ];
    filters.extend(switches.iter().filter(|(on, _)| *on).map(|(_, t)| (*t).to_owned()));
    filters
}
