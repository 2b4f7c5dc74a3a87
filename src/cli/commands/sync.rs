//! `sync`: merges the memory file with a copy in an object store.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::interrupt::on_interrupt;
use crate::cli::values::parse_duration;
use memories_document::types::hint::Remedy;
use memories_notebook::Notebook;
use memories_sync::{Options, Remote, RemoteUrl, SyncReport, sync};

/// Merge the memory file with a copy in an object store
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every worker records into its own file; `sync` fetches the copy, merges both as
`merge` does, puts the result back if nobody was faster, and writes it to the
file. Counts are the sums of all machines. An entry that both sides worded
differently stays twice. An error leaves both sides as they are. The answer says
what came, changed and vanished on each side; `restore` undoes what came.

If no known machine wrote the copy and it lacks something, the sync asks once:
the same command again goes on. What a person wrote, CORE and DANGER stay then.

URL: s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, or file:///PATH in a
folder that several machines see. Without it: `[sync] url` of the settings.
Keys come from the environment and the files of each cloud alone:
  s3  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
      AWS_ENDPOINT_URL, AWS_PROFILE of ~/.aws, the role of the machine
  gs  GOOGLE_APPLICATION_CREDENTIALS, the login of gcloud, the machine's account
  az  AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with
      AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, the machine's identity

Examples:
  memories sync s3://games/zork/Memories.md
  memories sync s3://games/zork/Memories.md --dry-run
  memories sync file:///mnt/shared/Memories.md --watch 30s
  memories recall 23 -f s3://games/zork/Memories.md

Exit code 3: try again later (no connection, others were always faster).

With --json: {version, url, dry_run, received, sent, changed_here,
changed_there, removed_here, removed_there, protected, kept, lost_races,
requests, received_bytes, sent_bytes}, the first six after dry_run with
{memories, lines, names, actions, ways, visits}; with --watch one such line for
each sync that changed something.")]
pub(crate) struct SyncArgs {
    /// Address of the copy [default: `url` of `[sync]` in the settings]
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Sync at this interval and after each episode, until interrupted
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "dry_run")]
    watch: Option<Duration>,
    /// Put a copy there anew that was there at the last sync
    #[arg(long)]
    create: bool,
    /// Take over all that either side removed, whoever did it
    #[arg(long)]
    allow_removals: bool,
    /// Show what would come and go; write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Exchange);

pub fn run(mut cli: Cli<'_>, args: SyncArgs) -> Result<u8, Failure> {
    let syncing = Syncing::of(&mut cli, &args)?;
    match args.watch {
        None => {
            let report = syncing.once(cli.settings.seed())?;
            syncing.tell(&mut cli, &report)?;
            Ok(0)
        }
        Some(interval) => syncing.watch(cli, interval),
    }
}

/// Interval between two looks at the running episode.
const LOOK: Duration = Duration::from_millis(500);

/// The shortest interval of a watch.
const SHORTEST: Duration = Duration::from_millis(100);

/// A memory file, its remote copy, and what a sync may do.
struct Syncing {
    notebook: Notebook,
    remote: Box<dyn Remote>,
    options: Options,
}

impl Syncing {
    fn of(cli: &mut Cli<'_>, args: &SyncArgs) -> Result<Syncing, Failure> {
        let url = args.url.as_ref().or(cli.settings.sync_url.as_ref()).ok_or_else(|| {
            Failure::usage("the address of the copy is missing")
                .hint("give it as `memories sync s3://BUCKET/KEY`, or set `url` of `[sync]`")
        })?;
        let notebook = cli.notebook()?;
        let name = notebook.store().real_path().file_name().unwrap_or_default().to_string_lossy();
        let url = RemoteUrl::parse(url, &name)?;
        let remote = cli.remote(&url)?;
        if let RemoteUrl::File(path) = &url
            && path.canonicalize().is_ok_and(|path| path == notebook.store().real_path())
        {
            return Err(Failure::usage("the copy is the memory file itself")
                .hint("name a file in another folder, which the other machines see"));
        }
        let options = Options {
            create: args.create,
            allow_removals: args.allow_removals,
            dry_run: args.dry_run,
            lock_timeout: cli.settings.lock_timeout,
            seed: cli.settings.seed(),
            host: host_name(),
        };
        Ok(Syncing { notebook, remote, options })
    }

    fn once(&self, seed: u64) -> Result<SyncReport, Failure> {
        let options = Options { seed, ..self.options.clone() };
        Ok(sync(&self.notebook, self.remote.as_ref(), &options)?)
    }

    /// Says what came and went.
    fn tell(&self, cli: &mut Cli<'_>, report: &SyncReport) -> Result<(), Failure> {
        let (url, dry_run) = (self.remote.to_string(), self.options.dry_run);
        let mut json = json!({"url": url, "dry_run": dry_run});
        let serde_json::Value::Object(fields) = serde_json::to_value(report).expect("counts are JSON") else {
            unreachable!("a report has fields")
        };
        json.as_object_mut().expect("it is one").extend(fields);
        let said = report.words().unwrap_or_else(|| "nothing new on either side".to_owned());
        let verb = if dry_run { "would sync" } else { "synced" };
        let mut text = format!("{verb} with {url}: {said}\n");
        for (names, what) in [
            (&report.protected, "changed or removed, though protected"),
            (&report.kept, "kept, though the copy differs"),
        ] {
            text.extend(names.iter().map(|name| format!("  {what}: {}\n", name)));
        }
        if report.took_away() && !dry_run {
            text.push_str("  `memories restore` undoes what came\n");
        }
        cli.ui.answer(&json, &text)?;
        cli.ui.detail(&format!(
            "{}, {} received, {} sent, {} lost",
            counted(report.requests as usize, "request", "requests"),
            counted(report.received_bytes as usize, "byte", "bytes"),
            counted(report.sent_bytes as usize, "byte", "bytes"),
            counted(report.lost_races as usize, "race", "races"),
        ));
        Ok(cli.ui.flush()?)
    }

    /// Syncs at an interval and after each episode. An interrupt ends it with a last sync.
    fn watch(self, mut cli: Cli<'_>, interval: Duration) -> Result<u8, Failure> {
        let (interrupted, is_interrupted) = channel::<()>();
        on_interrupt(move || drop(interrupted))?;
        let mut number = 0;
        loop {
            let episode = self.notebook.state().episode;
            self.round(&mut cli, number)?;
            number += 1;
            if self.wait(&is_interrupted, interval, episode) {
                self.round(&mut cli, number)?;
                return Ok(0);
            }
        }
    }

    /// One sync. What may pass is a warning.
    fn round(&self, cli: &mut Cli<'_>, number: u64) -> Result<(), Failure> {
        match self.once(cli.settings.seed().wrapping_add(number)) {
            Ok(report) if report.words().is_none() && report.kept.is_empty() => Ok(()),
            Ok(report) => self.tell(cli, &report),
            Err(failure) if failure.remedy == Some(Remedy::Retry) => {
                cli.ui.warning(&format!("{}; it is tried again", failure.message()));
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Waits for the interval or the end of the episode; `true` where it was interrupted.
    fn wait(&self, is_interrupted: &Receiver<()>, interval: Duration, episode: u64) -> bool {
        let end = Instant::now() + interval.max(SHORTEST);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match is_interrupted.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Disconnected) | Ok(()) => return true,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return false,
                Err(RecvTimeoutError::Timeout) if self.notebook.state().episode != episode => {
                    return false;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// The name of this host; empty where the system has none.
#[cfg(unix)]
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// No name: machines are told apart by their digits.
#[cfg(not(unix))]
fn host_name() -> String {
    String::new()
}
