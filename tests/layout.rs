//! The direction of dependencies between the crates of the workspace (ring(7), FILES AND PROGRAMS).

use std::collections::BTreeMap;
use std::process::Command;

/// What each crate may depend on, among ours.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ring-session", &[]),
    ("ring-hook", &["ring-session"]),
    ("ring-scan", &["ring-hook", "ring-session"]),
    ("ring-plan", &["ring-hook", "ring-session"]),
    ("ring-notify", &["ring-hook", "ring-session"]),
    ("ring-tests", &["ring-hook", "ring-session"]),
];

#[test]
fn our_crates_depend_on_each_other_in_one_direction_only() {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let packages = metadata["packages"].as_array().unwrap();
    assert_eq!(packages.len(), ALLOWED.len(), "a crate that is not in the table");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let may = allowed
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in the table"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            if other.starts_with("ring-") {
                assert!(may.contains(&other), "{name} depends on {other}");
            }
        }
    }
}
