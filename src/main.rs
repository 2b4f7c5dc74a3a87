//! Arguments in, exit code out.

use std::process::ExitCode;

use memories::cli::{Streams, report_panic, run};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    let streams = Streams::standard();
    // A panic is our bug: the hook has told what happened, the code says whose fault it is.
    let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(std::env::args_os(), streams)));
    ExitCode::from(code.unwrap_or(memories::cli::EXIT_BUG))
}
