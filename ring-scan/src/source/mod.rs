//! What is read: one file a source. Each gives what it found and says how reading went; none decides a status.

pub mod codex_server;
mod websocket;
