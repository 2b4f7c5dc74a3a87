//! A program as a model: the prompt on its stdin, the answer on its stdout.
//!
//! The program runs without a shell, with the environment of the settings and no other variables. Threads read and
//! write its streams, so that neither a long prompt nor a long answer can block. The time limit ends the program and,
//! on Unix, its whole process group. Arguments may hold secrets and are never shown.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::config::{Config, ProgramEnvironment};
use crate::model::{Answer, Model, ModelError, Question, Usage, deadline_after, one_line};
use crate::secrets::Secrets;

/// Longest answer that is read, in bytes.
const OUTPUT_LIMIT: u64 = 4 * 1024 * 1024;

/// Bytes kept of the end of stderr.
const ERROR_LIMIT: usize = 8 * 1024;

/// Pause between two looks at a program that has closed its stdout and still runs.
const POLL: Duration = Duration::from_millis(5);

/// A program that answers. It has no `Debug`, because arguments may hold secrets.
pub(crate) struct Command {
    program: String,
    arguments: Vec<String>,
    environment: ProgramEnvironment,
    shown: String,
    timeout: Duration,
}

impl Command {
    /// The program that the settings name; it is started for each question.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] where they name none.
    pub(crate) fn new(config: &Config) -> Result<Command, ModelError> {
        match config.command.split_first() {
            Some((program, arguments)) if !program.trim().is_empty() => Ok(Command {
                program: program.clone(),
                arguments: arguments.to_vec(),
                environment: config.program_environment.clone(),
                shown: display_name(program, arguments),
                timeout: config.limits.timeout,
            }),
            _ => Err(ModelError::Settings {
                problem: "provider `command` has no program".to_owned(),
                hint: "set `command` under `[llm]`, for example to `[\"llm\", \"-m\", \"gpt-4.1-mini\"]`"
                    .to_owned(),
            }),
        }
    }

    fn start(&self) -> Result<Child, ModelError> {
        let mut command = std::process::Command::new(&self.program);
        self.environment.apply(&mut command);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.settings("was not found"),
            io::ErrorKind::PermissionDenied => self.settings("may not be run"),
            _ => self.unavailable(format!("does not start: {error}")),
        })
    }

    /// Waits for the answer. At the deadline, or when the answer grows too long, ends the program.
    fn run(&self, prompt: String) -> Result<Vec<u8>, ModelError> {
        let deadline = deadline_after(self.timeout);
        let mut child = self.start()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program may answer without reading everything: a closed pipe is not an error.
            std::thread::spawn(move || stdin.write_all(prompt.as_bytes()));
        }
        let output = read_aside(child.stdout.take(), |stream| {
            let mut output = Vec::new();
            stream.take(OUTPUT_LIMIT + 1).read_to_end(&mut output)?;
            Ok(output)
        });
        let errors = read_aside(child.stderr.take(), read_end);
        let left = || deadline.saturating_duration_since(Instant::now());
        let Ok(output) = output.recv_timeout(left()) else {
            self.end(&mut child);
            return Err(self.too_late());
        };
        if output.len() as u64 > OUTPUT_LIMIT {
            self.end(&mut child);
            return Err(self.garbled("the answer is longer than 4 MiB"));
        }
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if !left().is_zero() => std::thread::sleep(POLL.min(left())),
                Ok(None) => {
                    self.end(&mut child);
                    return Err(self.too_late());
                }
                Err(error) => return Err(self.unavailable(format!("is lost: {error}"))),
            }
        };
        if status.success() {
            return Ok(output);
        }
        // A process that it left running may hold stderr open.
        let errors = errors.recv_timeout(left().min(Duration::from_millis(200)));
        Err(self.failed(status, &errors.unwrap_or_default()))
    }

    /// Ends the program and, on Unix, its process group. The shell's `kill` ends the group, because the standard
    /// library can end only the program itself.
    fn end(&self, child: &mut Child) {
        #[cfg(unix)]
        {
            let mut kill = std::process::Command::new("sh");
            self.environment.apply(&mut kill);
            kill.args(["-c", "kill -9 \"-$1\"", "sh", &child.id().to_string()]);
            let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    /// The meaning of an exit code, by the conventions of shells and of `sysexits`.
    fn failed(&self, status: ExitStatus, errors: &[u8]) -> ModelError {
        let errors = String::from_utf8_lossy(errors);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty());
        let mut problem = match status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => format!("ended with {status}"),
        };
        if let Some(last) = last {
            let last = Secrets::of(self.environment.secrets()).mask(last);
            problem = format!("{problem}: {}", one_line(&last));
        }
        match status.code() {
            Some(126 | 127) => self.settings(&format!("does not run: it {problem}")),
            Some(69 | 75) | None => self.unavailable(problem),
            Some(_) => ModelError::Refused { at: self.at(), problem: format!("it {problem}") },
        }
    }

    fn at(&self) -> String {
        format!("`{}`", self.shown)
    }

    fn settings(&self, problem: &str) -> ModelError {
        ModelError::Settings {
            problem: format!("the program `{}` {problem}", self.shown),
            hint: "check `command` under `[llm]`; a relative path starts at the working directory".to_owned(),
        }
    }

    fn too_late(&self) -> ModelError {
        self.unavailable(format!("did not answer within {} s", self.timeout.as_secs_f64()))
    }

    fn unavailable(&self, problem: String) -> ModelError {
        ModelError::Unavailable { at: self.at(), problem }
    }

    fn garbled(&self, problem: &str) -> ModelError {
        ModelError::Garbled { at: self.at(), problem: problem.to_owned() }
    }
}

impl Model for Command {
    fn name(&self) -> String {
        format!("command/{}", self.shown)
    }

    fn ask(&self, question: &Question<'_>) -> Result<Answer, ModelError> {
        let examples = question.examples.iter();
        let examples: String =
            examples.map(|(asked, answered)| format!("{}\n\n{answered}\n\n", asked.trim_end())).collect();
        let prompt = format!("{}\n\n{examples}{}\n", question.system, question.prompt_with_schema());
        let output = self.run(prompt)?;
        let text = String::from_utf8_lossy(&output).into_owned();
        if text.trim().is_empty() {
            return Err(self.garbled("the answer is empty"));
        }
        Ok(Answer { text, model: self.name(), usage: Usage { calls: 1, ..Usage::default() } })
    }
}

/// The name of a program without its folder; of a shell's command line, the first word that is not an
/// assignment.
fn display_name(program: &str, arguments: &[String]) -> String {
    let word = match (program, arguments) {
        ("sh", [flag, line]) if flag == "-c" => line.split_whitespace().find(|word| !word.contains('=')),
        _ => None,
    };
    let path = Path::new(word.unwrap_or(program));
    match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => program.to_owned(),
    }
}

/// Reads a stream in a thread of its own; sends nothing if that fails.
fn read_aside<S: Read + Send + 'static>(
    stream: Option<S>,
    read: impl FnOnce(S) -> io::Result<Vec<u8>> + Send + 'static,
) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stream) = stream {
        std::thread::spawn(move || {
            // After the deadline there is no receiver any more.
            let _ = sender.send(read(stream).unwrap_or_default());
        });
    }
    receiver
}

/// The end of a stream of any length.
fn read_end(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut chunk = [0; ERROR_LIMIT];
    loop {
        match stream.read(&mut chunk)? {
            0 => return Ok(kept),
            length => kept.extend_from_slice(&chunk[..length]),
        }
        let surplus = kept.len().saturating_sub(ERROR_LIMIT);
        kept.drain(..surplus);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{RequestLimits, shell};

    fn ask_with(command: Vec<String>, prompt: &str, timeout: Duration) -> Result<Answer, ModelError> {
        let limits = RequestLimits::new(timeout);
        let config = Config { command, limits, ..Config::default() };
        Command::new(&config)?.ask(&Question {
            system: "You judge.",
            examples: &[],
            prompt,
            schema_name: "memory",
            schema: &json!({"type": "object"}),
        })
    }

    fn ask(line: &str) -> Result<Answer, ModelError> {
        ask_with(shell(line), "The turn.", Duration::from_secs(20))
    }

    #[test]
    fn the_prompt_goes_in_and_the_answer_comes_out() {
        let text = ask("cat").unwrap().text;
        assert!(text.starts_with("You judge.\n\nThe turn.\n\n"), "{text}");
        assert!(text.ends_with("{\"type\":\"object\"}\n"), "{text}");
        let answer = ask_with(vec!["echo".to_owned(), "{}".to_owned()], "", Duration::from_secs(20));
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.model.as_str()), ("{}\n", "command/echo"));
        assert_eq!(answer.usage.calls, 1);
    }

    #[test]
    fn long_prompts_and_answers_do_not_block() {
        let prompt = "x".repeat(1_000_000);
        let answer = ask_with(shell("cat"), &prompt, Duration::from_secs(20)).unwrap();
        assert!(answer.text.len() > prompt.len());
        let answer = ask_with(shell("echo '{}'"), &prompt, Duration::from_secs(20)).unwrap();
        assert_eq!(answer.text, "{}\n");
        let error = ask("yes").unwrap_err();
        assert!(error.to_string().contains("longer than 4 MiB"), "{error}");
        let answer = ask("yes | head -c 300000 >&2; echo '{}'").unwrap();
        assert_eq!(answer.text, "{}\n");
    }

    #[test]
    fn the_time_limit_ends_the_program_and_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let line = format!("sleep 600 & echo $! > '{}'; wait", pids.display());
        let started = Instant::now();
        let error = ask_with(shell(&line), "", Duration::from_secs(1)).unwrap_err();
        assert!(matches!(error, ModelError::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains("did not answer within 1 s"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(20));
        let pid = std::fs::read_to_string(&pids).unwrap();
        let gone = format!(
            "i=0; while kill -0 {0} 2>&-; do i=$((i+1)); [ $i -gt 2000 ] && exit 1; sleep 0.01; done; echo gone",
            pid.trim()
        );
        assert_eq!(ask(&gone).unwrap().text, "gone\n");
        let error = ask_with(shell("exec >&-; sleep 600"), "", Duration::from_millis(500));
        assert!(error.unwrap_err().to_string().contains("did not answer within"));
    }

    #[test]
    fn failures_say_the_last_line() {
        let error = ask("echo first >&2; echo 'no such model' >&2; echo >&2; exit 3").unwrap_err();
        assert!(matches!(error, ModelError::Refused { .. }));
        let text = error.to_string();
        assert!(text.ends_with("it ended with exit code 3: no such model"), "{text}");
        assert!(matches!(ask("exit 75"), Err(ModelError::Unavailable { .. })));
        assert!(matches!(ask("kill -9 $$"), Err(ModelError::Unavailable { .. })));
        assert!(matches!(ask("no-such-program-here"), Err(ModelError::Settings { .. })));
        assert!(matches!(ask("true"), Err(ModelError::Garbled { .. })));
        let missing = vec!["no-such-program-here".to_owned()];
        let error = ask_with(missing, "", Duration::from_secs(20)).unwrap_err();
        let text = error.to_string();
        assert_eq!(text, "the program `no-such-program-here` was not found");
    }

    #[test]
    fn the_last_line_is_shown_without_secrets() {
        let variables = vec![("OWN".into(), "my-own-secret".into()), ("PATH".into(), "/usr/bin:/bin".into())];
        let program_environment = ProgramEnvironment::new(variables, vec!["OWN".to_owned()]);
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let line = format!("echo \"$OWN is no key, {token} neither, $PATH\" >&2; exit 3");
        let config = Config { command: shell(&line), program_environment, ..Config::default() };
        let schema = json!({});
        let question =
            Question { system: "", examples: &[], prompt: "", schema_name: "memory", schema: &schema };
        let text = Command::new(&config).unwrap().ask(&question).unwrap_err().to_string();
        assert!(!text.contains("my-own-secret") && !text.contains(&token), "{text}");
        assert!(text.contains("**** is no key") && text.contains("/usr/bin:/bin"), "{text}");
    }

    #[test]
    fn arguments_are_never_shown() {
        let shown = |line: &str| display_name("sh", &["-c".to_owned(), line.to_owned()]);
        assert_eq!(shown("KEY=secret /usr/bin/llm --key secret"), "llm");
        assert_eq!(shown("KEY=secret"), "sh");
        assert_eq!(display_name("/usr/bin/llm", &["secret".to_owned()]), "llm");
    }
}
