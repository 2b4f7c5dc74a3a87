//! The flags that choose a model.

use crate::ask::remembering;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;

/// The texts that a model is sent.
pub(crate) const FOR_A_MODEL: &str = "turns, chats and memories that a model is asked about";

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ModelArgs {
    /// Which model: auto, openai, anthropic, ollama, command, or offline for the built-in
    /// rules
    #[arg(long, value_name = "PROVIDER", value_parser = parse_provider)]
    provider: Option<memories_llm::Provider>,
    /// The model's name
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl ModelArgs {
    /// Replaces values of the environment and of the settings by those of the flags.
    pub(crate) fn override_settings(self, cli: &mut Cli<'_>) {
        let ModelArgs { provider, model } = self;
        let config = &mut cli.settings.llm;
        config.provider = provider.unwrap_or(config.provider);
        config.model = model.or(config.model.take());
    }

    /// Fails where the settings name a model that is not asked, unless a flag names another provider.
    pub(crate) fn forbid_untrusted(&self, cli: &Cli<'_>) -> Result<(), Failure> {
        let Some(path) = cli.settings.untrusted_model.as_ref().filter(|_| self.provider.is_none()) else {
            return Ok(());
        };
        let path = path.display();
        let failure =
            Failure::user(format!("the model that `{path}` names is not asked: the file is not trusted"));
        Err(failure.hint(format!(
            "read it, then allow it with `memories trust {path}`, or choose `--provider offline`"
        )))
    }

    /// The model that flags, environment and settings name. No connection is opened yet.
    pub fn choose(self, cli: &mut Cli<'_>) -> Result<memories_llm::Choice, Failure> {
        self.override_settings(cli);
        let (config, environment) = (&cli.settings.llm, &cli.settings.llm_environment);
        let choice = remembering::choose(config, environment, cli.settings.seed(), cli.notebook()?)?;
        let destination = choice.model.as_ref().and_then(|model| model.destination());
        cli.announce(destination.as_slice(), FOR_A_MODEL);
        Ok(choice)
    }
}

/// Parses the name of a provider; the error lists the known names.
fn parse_provider(text: &str) -> Result<memories_llm::Provider, String> {
    text.trim().parse().map_err(|error| match error {
        memories_llm::ModelError::Settings { problem, hint } => format!("{problem}: {hint}"),
        other => other.to_string(),
    })
}

/// The failure of a command that needs a model if none is set up; `instead` is a hint for going on
/// without one.
pub(crate) fn no_model(instead: &str) -> Failure {
    let failure = Failure::user("no model is set up");
    failure.hint("set a key or a host, or choose one with `--provider`").hint(instead)
}
