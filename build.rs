//! Links the program at a fixed address where that is the linker's choice: Linux with the GNU library.
//!
//! A program that may be loaded anywhere has its ten thousand pointers to vtables and texts written
//! anew at each start, which costs as much as all that `recall` does in a small file. Stack, heap and
//! libraries lie at random addresses all the same.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
