//! `hook`: runs at the events of a coding agent. The event comes as JSON on stdin; the answer goes to stdout in the
//! agent's form.
//!
//! A hook never fails the agent: its caller turns every failure into silence and exit code 0.

mod event;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;

use crate::cli::anchors::Repository;
use crate::cli::commands::consolidate_grown;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::machine;
use crate::cli::settings::{milliseconds_now, repository_of, tools_environment};
use crate::cli::working_folder::WorkingFolder;
use memories_agents::work::verdict::Verdict;
use memories_agents::work::{Shell, Work, keep};
use memories_document::types::frame::NOTICE;
use memories_document::types::model_text::ModelText;
use memories_document::types::{Scope, ScopeName, json};
use memories_notebook::{Notebook, Snapshot};
use memories_recall::{Actions, Format, recall_newest, render};

use event::{Event, EventKind, HookAgent, Said};

/// Longest wait for other writers: the agent waits for its hook.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Time for an answer. A build for tests is about ten times slower.
const BUDGET: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });

/// Folders of earlier work that are shown at the start of a session.
const FOLDERS: usize = 3;

/// Run at an event of a coding agent (its hooks call this)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The event comes as JSON on stdin. At the start of a session the answer is what
is known of the working folder; before a command, whether it failed here and
nothing has changed since; after a failure, that it is noted. At the end, and
before the agent compacts its context, what was learned is kept in the memory
file. Without a memory file nothing happens: `memories init` makes one.

A hook asks no model. Whatever goes wrong, it prints nothing and the exit code
is 0; with -v the reason goes to stderr. It is silent after a second, too, and
about a command of more than 64 KiB.

Examples:
  memories setup claude-code --apply
  memories hook claude-code < event.json")]
pub(crate) struct HookArgs {
    /// `claude-code`, `codex` or `gemini`
    #[arg(value_name = "AGENT", value_parser = str::parse::<HookAgent>)]
    agent: HookAgent,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::SetUp);

pub fn run(mut cli: Cli<'_>, args: HookArgs) -> Result<u8, Failure> {
    let HookArgs { agent } = args;
    cli.settings.lock_timeout = cli.settings.lock_timeout.min(LONGEST_WAIT);
    let notebook = cli.notebook()?;
    let has_file = notebook.store().real_path().is_file();
    if !has_file || !cli.settings.hooks.enabled {
        return Ok(0);
    }
    let bytes = cli.read_bytes()?;
    let budget = Budget::begin();
    let payload: Value =
        json::read(&bytes).map_err(|error| Failure::user(format!("the event is not JSON: {error}")))?;
    let event = Event::read(agent, &payload)?;
    let here = event.folder.clone().unwrap_or_else(|| cli.settings.working_folder.folder().to_owned());
    let user_folder = cli.settings.user_folder.as_deref();
    let repository = repository_of(&here, user_folder);
    let root = WorkingFolder::new(&here, notebook.store().real_path(), repository).root().to_owned();
    let files = Arc::new(Repository::new(&root, notebook.store().real_path()));
    let notebook = notebook.with_anchored(Some(files.clone()));
    let machine = machine::name(user_folder, notebook.store());
    let work = Work {
        store: notebook.store(),
        root: &root,
        here: &here,
        session: &event.session,
        shell: Shell::Posix,
        now: milliseconds_now(),
        environment: tools_environment(),
        machine: &machine,
        files: Some(&*files),
    };
    let said = follow(&mut cli, &notebook, &event.kind, work)?.and_then(|said| event.answer(agent, said));
    if let Some(said) = said.filter(|_| budget.ends_in_time()) {
        cli.ui.data(&format!("{said}\n"))?;
    }
    Ok(0)
}

/// Notes what an event says, and returns what the agent is told.
fn follow(
    cli: &mut Cli<'_>,
    notebook: &Notebook,
    event: &EventKind,
    work: Work<'_>,
) -> Result<Option<Said>, Failure> {
    let most = cli.settings.record.tried_per_place;
    let kept = || keep(notebook, work.session, work.now, work.machine, most);
    match event {
        EventKind::Start => {
            // Lessons that cannot be stored now are stored the next time.
            if let Err(error) = kept() {
                cli.ui.detail(&error.to_string());
            }
            Ok(start(cli, &work)?.map(Said::Context))
        }
        EventKind::End => {
            kept()?;
            consolidate_grown::join_all(cli, notebook);
            Ok(None)
        }
        EventKind::Before { command, shell, id } => {
            work.begin(id)?;
            before(cli, &Work { shell: *shell, ..work }, command)
        }
        EventKind::After { command, shell, id, ended, output } => {
            let work = Work { shell: *shell, ..work };
            Ok(work.note_command(command, id, *ended, output)?.map(Said::Context))
        }
        EventKind::Edited(path) => {
            work.note_edit(path)?;
            Ok(None)
        }
        EventKind::Other => Ok(None),
    }
}

/// The time that a hook has. When it is over the process ends, in silence: an agent would wait for it. A write that is cut
/// off leaves the old file or the new one.
struct Budget {
    /// True once the answer is there, or the time is over: whichever comes first.
    is_decided: Arc<AtomicBool>,
    _end: mpsc::Sender<()>,
}

impl Budget {
    fn begin() -> Budget {
        let is_decided = Arc::new(AtomicBool::new(false));
        let (end, ended) = mpsc::channel();
        let late = Arc::clone(&is_decided);
        std::thread::spawn(move || {
            let is_over = ended.recv_timeout(BUDGET) == Err(mpsc::RecvTimeoutError::Timeout);
            if is_over && !late.swap(true, Ordering::SeqCst) {
                std::process::exit(0);
            }
        });
        Budget { is_decided, _end: end }
    }

    /// True unless the time was over before.
    fn ends_in_time(&self) -> bool {
        !self.is_decided.swap(true, Ordering::SeqCst)
    }
}

/// The recall of the working folder and of the folders worked in last.
fn start(cli: &Cli<'_>, work: &Work<'_>) -> Result<Option<ModelText>, Failure> {
    let mut limits = cli.settings.limits;
    limits.max_tokens = Some(cli.settings.hooks.max_tokens);
    let mut scopes = work.folder().map(Scope::Folder).into_iter().collect::<Vec<_>>();
    for folder in work.last_folders(FOLDERS)? {
        if !scopes.contains(&folder) {
            scopes.push(folder);
        }
    }
    let names: Vec<ScopeName> = scopes.into_iter().map(ScopeName::Scope).collect();
    let snapshot = Snapshot::read(work.store)?;
    let mut views = recall_newest(&snapshot, &names, &limits, Format::Text, usize::MAX, work.files)?;
    views.retain(|view| {
        !view.memories.is_empty() || view.actions != Actions::default() || !view.notes.is_empty()
    });
    Ok((!views.is_empty()).then(|| render(&views)))
}

/// Tells what is known of a command, before it runs.
fn before(cli: &Cli<'_>, work: &Work<'_>, command: &str) -> Result<Option<Said>, Failure> {
    let Some(answer) = work.known(command)? else { return Ok(None) };
    let Some(text) = answer.text() else { return Ok(None) };
    let text = ModelText::of(&format!("{NOTICE}\n{text}"));
    let is_held = cli.settings.hooks.hold && matches!(answer.verdict, Verdict::InVain(_));
    if is_held && work.hold(command)? {
        let advice = "If you want to run it all the same, run it once more.";
        return Ok(Some(Said::Refused(ModelText::of(&format!("{text}{advice}\n")))));
    }
    Ok(Some(Said::Context(text)))
}
