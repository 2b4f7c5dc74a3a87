//! One file for each command: its arguments, and a function that resolves them, calls and reports.

mod absent;
mod add;
mod adopt;
mod chat;
mod check;
mod check_beside;
mod common;
mod completions;
mod consolidate;
mod consolidate_grown;
mod consolidate_plan;
mod conversation_args;
mod correct;
mod diff;
mod digest;
mod edit;
mod episode;
mod export;
#[cfg(feature = "formats")]
mod export_foreign;
mod export_format;
mod extract;
mod fmt;
#[cfg(feature = "formats")]
mod foreign;
mod forget;
mod frontier;
mod goals;
#[cfg(feature = "agents")]
mod hook;
mod import;
mod init;
mod inject;
mod invalidate;
mod link;
mod list;
mod log;
mod man;
mod map;
mod map_file;
mod map_places;
mod mark;
#[cfg(feature = "mcp")]
mod mcp;
mod memory_args;
#[cfg(feature = "agents")]
mod memory_tool;
mod merge;
mod merge_install;
mod merge_octopus;
mod merge_resolve;
mod merge_sides;
mod model_args;
mod moment_args;
mod near;
#[cfg(feature = "page")]
mod page;
mod path;
#[cfg(feature = "proxy")]
mod proxy;
mod query;
mod recall;
mod record;
mod rename;
#[cfg(feature = "page")]
mod report;
mod restore;
mod retry;
mod review;
mod route;
mod seed;
mod selection_args;
#[cfg(feature = "page")]
mod serve;
#[cfg(feature = "agents")]
mod setup;
mod show;
mod stats;
mod summarize;
mod supersede;
#[cfg(feature = "sync")]
mod sync;
#[cfg(any(feature = "mcp", feature = "page", feature = "proxy"))]
mod token;
mod top;
mod tried;
mod trust;
mod viewer_args;
mod writer_args;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::cli::context::Cli;
use crate::cli::facts::Facts;
use crate::cli::failure::Failure;
use crate::cli::settings::ProcessEnvironment;
use crate::cli::ui::Ui;

absent::commands! {
    "agents": hook HookArgs SetUp, memory_tool MemoryToolArgs SetUp, setup SetupArgs SetUp;
    "mcp": mcp McpArgs SetUp;
    "page": report ReportArgs Look, serve ServeArgs Look;
    "proxy": proxy ProxyArgs Talk;
    "sync": sync SyncArgs Exchange;
}

/// The commands, in the order of the overview.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value a run, and clap flattens no box")]
pub(crate) enum Command {
    #[command(flatten)]
    Memory(MemoryCommand),
    #[command(flatten)]
    Program(ProgramCommand),
}

/// Declares the commands by module, variant and arguments. A former name is hidden.
macro_rules! memory_commands {
    ($($(#[$hidden:meta])? $module:ident $name:ident($args:ident),)*) => {
        /// Commands on a memory file. Only the arguments of the one that is called are built.
        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        pub(crate) enum MemoryCommand {
            $($(#[$hidden])? $name($module::$args),)*
        }

        impl MemoryCommand {
            /// Runs the command and gives its exit code.
            pub(crate) fn run(self, cli: Cli<'_>) -> Result<u8, Failure> {
                match self {
                    $(MemoryCommand::$name(args) => $module::run(cli, args),)*
                }
            }

            /// The facts about the command, without the words under it.
            fn own_facts(&self) -> Facts {
                match self {
                    $(MemoryCommand::$name(_) => $module::FACTS,)*
                }
            }
        }

        /// The facts about each command, by its name in Rust.
        const FACTS: &[(&str, Facts)] = &[
            $((stringify!($module), $module::FACTS),)*
            ("setup", setup::FACTS),
            ("trust", trust::FACTS),
            ("completions", completions::FACTS),
            ("man", man::FACTS),
        ];
    };
}

/// The facts about the command of that name.
pub(crate) fn facts_of(name: &str) -> Option<Facts> {
    let name = name.replace('-', "_");
    FACTS.iter().find(|(module, _)| *module == name).map(|(_, facts)| *facts)
}

/// The name of the command for which other programs have that word.
pub(crate) fn command_meant(word: &str) -> Option<String> {
    let (module, _) = FACTS.iter().find(|(_, facts)| facts.synonyms.contains(&word))?;
    Some(module.replace('_', "-"))
}

memory_commands! {
    record Record(RecordArgs),
    recall Recall(RecallArgs),
    add Add(AddArgs),
    tried Tried(TriedArgs),
    episode Episode(EpisodeArgs),
    query Query(QueryArgs),
    top Top(TopArgs),
    summarize Summarize(SummarizeArgs),
    route Route(RouteArgs),
    goals Goals(GoalsArgs),
    map Map(MapArgs),
    report Report(ReportArgs),
    serve Serve(ServeArgs),
    list List(ListArgs),
    show Show(ShowArgs),
    stats Stats(StatsArgs),
    log Log(LogArgs),
    diff Diff(DiffArgs),
    supersede Supersede(SupersedeArgs),
    invalidate Invalidate(InvalidateArgs),
    mark Mark(MarkArgs),
    link Link(LinkArgs),
    forget Forget(ForgetArgs),
    rename Rename(RenameArgs),
    edit Edit(EditArgs),
    check Check(CheckArgs),
    review Review(ReviewArgs),
    adopt Adopt(AdoptArgs),
    consolidate Consolidate(ConsolidateArgs),
    restore Restore(RestoreArgs),
    retry Retry(RetryArgs),
    seed Seed(SeedArgs),
    chat Chat(ChatArgs),
    import Import(ImportArgs),
    export Export(ExportArgs),
    merge Merge(MergeArgs),
    sync Sync(SyncArgs),
    init Init(InitArgs),
    mcp Mcp(McpArgs),
    hook Hook(HookArgs),
    memory_tool MemoryTool(MemoryToolArgs),
    // Former names: these stand under `map` and `chat`, and the last one is `check --format`.
    #[command(hide = true)]
    path Path(PathArgs),
    #[command(hide = true)]
    near Near(NearArgs),
    #[command(hide = true)]
    frontier Frontier(FrontierArgs),
    #[command(hide = true)]
    digest Digest(DigestArgs),
    #[command(hide = true)]
    inject Inject(InjectArgs),
    #[command(hide = true)]
    extract Extract(ExtractArgs),
    #[command(hide = true)]
    proxy Proxy(ProxyArgs),
    #[command(hide = true)]
    fmt Fmt(FmtArgs),
}

impl MemoryCommand {
    fn facts(&self) -> Facts {
        match self {
            MemoryCommand::Chat(args) => args.facts(),
            other => other.own_facts(),
        }
    }

    /// True for a question that the exit code answers: yes or no.
    pub(crate) fn asks_yes_or_no(&self) -> bool {
        match self {
            MemoryCommand::Tried(_) | MemoryCommand::Path(_) => true,
            MemoryCommand::Map(args) => args.asks_for_path(),
            _ => false,
        }
    }

    /// True if people read its answer page by page.
    pub(crate) fn is_read_by_people(&self) -> bool {
        self.facts().pages && !matches!(self, MemoryCommand::Log(args) if args.follows())
    }

    /// The file of a command that git calls, or that merges files it names: no settings count for it.
    pub(crate) fn own_file(&self) -> Option<&Path> {
        match self {
            MemoryCommand::Diff(args) => args.own_file(),
            MemoryCommand::Merge(args) => args.own_file(),
            _ => None,
        }
    }

    /// True if it changes nothing, so that it can read a remote text.
    #[cfg_attr(not(feature = "sync"), expect(dead_code, reason = "without stores all texts are here"))]
    pub(crate) fn only_reads(&self) -> bool {
        self.facts().reads && !matches!(self, MemoryCommand::Check(args) if args.writes())
    }

    /// The moment of the past that it asks about.
    pub(crate) fn as_of(&self) -> Option<&str> {
        let args = match self {
            MemoryCommand::Recall(args) => &args.view.as_of,
            MemoryCommand::Show(args) => &args.view.as_of,
            MemoryCommand::Query(args) => &args.view.as_of,
            MemoryCommand::Top(args) => &args.view.as_of,
            MemoryCommand::Map(args) => args.as_of(),
            MemoryCommand::Path(args) => &args.view.as_of,
            MemoryCommand::Near(args) => &args.view.as_of,
            MemoryCommand::Frontier(args) => &args.view.as_of,
            MemoryCommand::Goals(args) => &args.view.as_of,
            MemoryCommand::Route(args) => &args.view.as_of,
            MemoryCommand::List(args) => &args.view.as_of,
            #[cfg(feature = "page")]
            MemoryCommand::Report(args) => &args.as_of,
            _ => return None,
        };
        args.as_of.as_deref()
    }

    /// True for a question, which without a memory file is answered as of an empty memory.
    pub(crate) fn is_question(&self) -> bool {
        self.facts().asks
    }
}

/// Commands about the program itself. They obey no settings, so that broken settings do not stop them.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProgramCommand {
    Setup(setup::SetupArgs),
    Trust(trust::TrustArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl ProgramCommand {
    /// Runs the command for the program whose command line is given, and for the settings file that would be read.
    pub(crate) fn run(
        self,
        ui: &mut Ui,
        program: clap::Command,
        settings: Option<PathBuf>,
        environment: &ProcessEnvironment,
    ) -> Result<u8, Failure> {
        match self {
            #[cfg(feature = "agents")]
            ProgramCommand::Setup(args) => setup::run(ui, args, environment),
            #[cfg(not(feature = "agents"))]
            ProgramCommand::Setup(args) => setup::run(ui, args),
            ProgramCommand::Trust(args) => trust::run(ui, args, settings, environment.user_folder.as_deref()),
            ProgramCommand::Completions(args) => completions::run(ui, &args),
            ProgramCommand::Man(args) => man::run(ui, &args, program),
        }
    }
}
