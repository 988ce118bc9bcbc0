//! Outlets as they are: real terminals, servers and programs.
