//! Links the unwinder into the programs where the C compiler has it as an archive. As a shared library it would cost each
//! hook event 0.2 ms for the loader to find, map and relocate.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ENV") != "gnu" {
        return;
    }
    if variable("HOST") != variable("TARGET") {
        return; // another compiler links than the one that could be asked
    }
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let answer = asked
        .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
        .unwrap_or_default();
    // a compiler that does not have it repeats the name
    if Path::new(&answer).is_absolute() {
        println!("cargo::rustc-link-lib=dylib=gcc_eh");
    }
}
