//! Commands that this build leaves out: each says which feature brings it.

use crate::cli::failure::Failure;

/// Says how to build the program with a command.
#[cfg_attr(
    all(feature = "agents", feature = "mcp", feature = "page", feature = "proxy", feature = "sync"),
    expect(dead_code, reason = "this build has all commands")
)]
pub(crate) fn failure(command: &str, feature: &str) -> Failure {
    let command = command.replace('_', "-");
    Failure::user(format!("this build has no `memories {command}`"))
        .hint(format!("build with `--features {feature}`, or with `--features full` for all commands"))
}

/// Declares, for each feature, the modules of its commands with the names of their arguments and their groups, as they are
/// where the feature is missing: a command takes any words, and answers how to get it.
macro_rules! commands {
    ($($feature:literal: $($module:ident $args:ident $group:ident),*;)*) => {$($(
        #[cfg(not(feature = $feature))]
        mod $module {
            use crate::cli::facts::{Facts, Group};
            use crate::cli::failure::Failure;

            #[doc = concat!("Not in this build: it needs the feature `", $feature, "`")]
            #[derive(Debug, clap::Args)]
            #[command(disable_help_flag = true)]
            pub(crate) struct $args {
                #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
                _words: Vec<std::ffi::OsString>,
            }

            /// The facts about this command.
            pub(crate) const FACTS: Facts = Facts::of(Group::$group);

            pub fn run<Context>(_: Context, _: $args) -> Result<u8, Failure> {
                Err(crate::cli::commands::absent::failure(stringify!($module), $feature))
            }
        }
    )*)*};
}
pub(crate) use commands;
