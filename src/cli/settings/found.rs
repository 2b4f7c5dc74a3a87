//! Finds the settings files of a run, and removes the keys that an untrusted one may not set.
//!
//! A file that a person names is trusted, and so is the one in the user's own folder. Any other is only found: it may
//! have come with a repository. The list of trusted files is read only if such a file has a restricted key.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::settings::environment::ProcessEnvironment;
use crate::cli::settings::file::{Layer, SettingsFiles};
use crate::cli::settings::owners::{self, Foreign, Owners};
use crate::cli::settings::restricted::restricted_keys;
use crate::cli::settings::trust_list::{TrustList, Trusted};
use crate::cli::values::is_url;

/// Name of a settings file.
const FILE_NAME: &str = "memories.toml";

/// The settings files of a run.
#[derive(Default)]
pub(super) struct Found {
    pub files: SettingsFiles,
    /// Path of the project's settings file, which may be missing.
    pub config_path: PathBuf,
    /// Keys that are ignored because their file is not trusted.
    pub ignored: Vec<&'static str>,
    pub warnings: Vec<String>,
    /// A settings file of another user, which does not count.
    pub foreign: Option<Foreign>,
}

/// Opens the settings file that is named, or else found, and the user's own.
///
/// # Errors
///
/// When a file is named but missing, when one is no text or not TOML.
pub(super) fn open(
    memory_file: Option<&Path>,
    named: Option<PathBuf>,
    named_may_be_missing: bool,
    environment: &ProcessEnvironment,
) -> Result<Found, Failure> {
    let is_named = named.is_some();
    let mut foreign = None;
    let path = named.or_else(|| {
        let found = search(memory_file, environment);
        foreign = found.foreign;
        found.path
    });
    let own = environment.user_folder.as_ref().map(|folder| folder.join(FILE_NAME));
    let mut found = Found {
        config_path: path.clone().unwrap_or_else(|| {
            relative_to(&environment.folder, start(memory_file, environment).join(FILE_NAME))
        }),
        foreign,
        ..Found::default()
    };
    let is_own = |path: &Path| own.as_deref() == Some(environment.folder.join(path).as_path());
    // `init` writes the file that is named.
    let is_there = |path: &PathBuf| !named_may_be_missing || path.exists();
    if let Some(path) = path.filter(|path| is_there(path) && !is_own(path)) {
        let (mut layer, content) = Layer::open(&path)?;
        if !is_named {
            found.ignored = ignored_keys(&layer, &content, environment.user_folder.as_deref())?;
            found.ignored.iter().for_each(|key| layer.remove(key));
            found.warnings.extend(warning(&path, &found.ignored));
        }
        found.files.push(layer);
    }
    if let Some(own) = own.filter(|own| own.exists()) {
        found.files.push(Layer::open(&own)?.0);
    }
    Ok(found)
}

/// The restricted keys of a file that was found, unless it is trusted.
fn ignored_keys(
    layer: &Layer,
    content: &[u8],
    user_folder: Option<&Path>,
) -> Result<Vec<&'static str>, Failure> {
    let restricted = restricted_keys(layer);
    if restricted.is_empty() {
        return Ok(restricted);
    }
    let list = user_folder.map(TrustList::read).transpose()?;
    let is_trusted = list.is_some_and(|list| list.holds(&Trusted::of(&layer.path, content)));
    Ok(if is_trusted { Vec::new() } else { restricted })
}

fn warning(path: &Path, ignored: &[&str]) -> Option<String> {
    let path = path.display();
    let keys = ignored.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let rule = "it was found, not named, and may be anybody's";
    (!ignored.is_empty()).then(|| {
        format!("`{path}` may not set {keys} until you allow it with `memories trust {path}`: {rule}")
    })
}

/// The settings file beside the memory file or above, up to the git root.
pub(crate) fn find_settings(memory_file: Option<&Path>, environment: &ProcessEnvironment) -> Option<PathBuf> {
    search(memory_file, environment).path
}

fn search(memory_file: Option<&Path>, environment: &ProcessEnvironment) -> owners::Found {
    let owners = Owners::of_system(environment.user_folder.as_deref());
    let owners::Found { path, foreign } = owners.find_above(&start(memory_file, environment), FILE_NAME);
    owners::Found { path: path.map(|path| relative_to(&environment.folder, path)), foreign }
}

/// The folder where the search for settings begins.
fn start(memory_file: Option<&Path>, environment: &ProcessEnvironment) -> PathBuf {
    match memory_file.filter(|file| !file.to_str().is_some_and(is_url)) {
        Some(file) => environment.folder.join(file).parent().map_or_else(PathBuf::new, Path::to_owned),
        None => environment.folder.clone(),
    }
}

/// The path relative to a folder if it is below that folder, else the path itself.
pub(super) fn relative_to(folder: &Path, path: PathBuf) -> PathBuf {
    path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path)
}
