//! Opens an object store with the variables and files that its cloud's own tools use. Keys come from nowhere else.
//!
//! The crate `object_store` knows the variables of each cloud by their names. This module adds what the crate does not
//! read: the profiles of `~/.aws`, the names of Azure's command line, and the address of an emulator of Google's storage.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use configparser::ini::{Ini, IniDefault};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use reqwest::Url;

use crate::bounded::BoundedConnector;
use crate::error::SyncError;
use crate::url::{Cloud, RemoteUrl};
use memories_llm::{Destination, install_tls, is_loopback};

/// Time limit on a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit on a request.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Time limit on a request and its repetitions.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// Repetitions of a request that failed.
const MAX_RETRIES: usize = 3;

/// Variables of the environment about clouds.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// The variables that begin with `AWS_`, `AZURE_`, `GOOGLE_` or `STORAGE_EMULATOR_`.
    pub variables: Vec<(String, String)>,
    /// The user's home, with `.aws` and the like.
    pub home: Option<PathBuf>,
}

impl Variables {
    fn get(&self, name: &str) -> Option<&str> {
        value_of(&self.variables, name).filter(|value| !value.trim().is_empty())
    }

    /// The value of the first of these variables that has one.
    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The variables as an object store's builder names its settings.
    fn lower<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        let of_cloud = self.variables.iter().filter(move |(name, _)| name.starts_with(prefix));
        of_cloud.map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()))
    }
}

/// The value of a name among pairs.
fn value_of<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// The machine that a remote copy is on; `None` where that is this one.
pub fn destination(url: &RemoteUrl, variables: &Variables) -> Option<Destination> {
    let RemoteUrl::Object { cloud, .. } = url else { return None };
    // A signature of S3 tells no key; tokens of the others are keys themselves.
    Destination::of(&endpoint(*cloud, variables)?, *cloud != Cloud::S3)
}

/// The address to which requests go.
fn endpoint(cloud: Cloud, variables: &Variables) -> Option<Url> {
    let profile = profile(variables);
    let own = match cloud {
        Cloud::S3 => variables
            .first(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
            .or(value_of(&profile, "endpoint_url")),
        Cloud::Gs => variables.get("STORAGE_EMULATOR_HOST"),
        Cloud::Az => return azure_endpoint(variables),
    };
    let usual = || match cloud {
        Cloud::S3 => format!("https://s3.{}.amazonaws.com", region(variables, &profile)),
        _ => "https://storage.googleapis.com".to_owned(),
    };
    Url::parse(&own.map_or_else(usual, str::to_owned)).ok()
}

fn azure_endpoint(variables: &Variables) -> Option<Url> {
    let connection = connection_string(variables);
    let own = variables.first(&["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"]);
    let own = own.or(value_of(&connection, "BlobEndpoint"));
    let account = variables.first(&["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"]);
    let account = account.or(value_of(&connection, "AccountName"));
    let usual = || format!("https://{}.blob.core.windows.net", account.unwrap_or("azure"));
    Url::parse(&own.map_or_else(usual, str::to_owned)).ok()
}

/// Opens the store of a bucket at the address `url`; nothing is sent yet.
///
/// # Errors
///
/// Where the variables and files name no usable store.
pub(super) fn open_store(
    url: &str,
    cloud: Cloud,
    bucket: &str,
    variables: &Variables,
) -> Result<Arc<dyn ObjectStore>, SyncError> {
    install_tls();
    let settings = |problem: object_store::Error| SyncError::Settings {
        url: url.to_owned(),
        problem: memories_llm::redact::redacted(&problem.to_string()),
    };
    let address = endpoint(cloud, variables);
    let is_own = address.as_ref().is_some_and(is_loopback);
    let options = ClientOptions::new()
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_timeout(TIMEOUT)
        .with_allow_http(is_own);
    let connector = BoundedConnector::default();
    let retry = RetryConfig {
        max_retries: MAX_RETRIES,
        retry_timeout: RETRY_TIMEOUT,
        backoff: BackoffConfig::default(),
    };
    Ok(match cloud {
        Cloud::S3 => {
            let builder = s3(variables).with_http_connector(connector).with_client_options(options);
            Arc::new(builder.with_retry(retry).with_bucket_name(bucket).build().map_err(settings)?)
        }
        Cloud::Gs => {
            let builder = gs(variables).with_http_connector(connector).with_client_options(options);
            Arc::new(builder.with_retry(retry).with_bucket_name(bucket).build().map_err(settings)?)
        }
        Cloud::Az => {
            let builder = az(variables).with_http_connector(connector).with_client_options(options);
            Arc::new(builder.with_retry(retry).with_container_name(bucket).build().map_err(settings)?)
        }
    })
}

fn s3(variables: &Variables) -> AmazonS3Builder {
    let profile = profile(variables);
    let mut builder = AmazonS3Builder::new()
        .with_region(region(variables, &profile))
        // Not every store that speaks as S3 does deletes many objects at once.
        .with_disable_bulk_delete(true);
    for (file, key) in [
        ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
        ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
        ("aws_session_token", AmazonS3ConfigKey::Token),
        ("endpoint_url", AmazonS3ConfigKey::Endpoint),
    ] {
        // A key of the environment does not go with the secret of a file.
        let is_key = file.starts_with("aws_");
        if is_key && variables.get("AWS_ACCESS_KEY_ID").is_some() {
            continue;
        }
        if let Some(value) = value_of(&profile, file) {
            builder = builder.with_config(key, value);
        }
    }
    for (name, value) in variables.lower("AWS_") {
        if let Ok(key) = name.parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    builder
}

fn region(variables: &Variables, profile: &[(String, String)]) -> String {
    let named = variables.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]).or(value_of(profile, "region"));
    named.unwrap_or("us-east-1").to_owned()
}

fn gs(variables: &Variables) -> GoogleCloudStorageBuilder {
    let mut builder = GoogleCloudStorageBuilder::new();
    for (name, value) in variables.lower("GOOGLE_") {
        if let Ok(key) = name.parse::<GoogleConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    match variables.get("STORAGE_EMULATOR_HOST") {
        // An emulator asks for no key.
        Some(address) => builder.with_base_url(address).with_bearer_token("none"),
        None => builder,
    }
}

fn az(variables: &Variables) -> MicrosoftAzureBuilder {
    let mut builder = MicrosoftAzureBuilder::new();
    for (name, value) in connection_string(variables) {
        let key = match name.as_str() {
            "AccountName" => AzureConfigKey::AccountName,
            "AccountKey" => AzureConfigKey::AccessKey,
            "BlobEndpoint" => AzureConfigKey::Endpoint,
            "SharedAccessSignature" => AzureConfigKey::SasKey,
            _ => continue,
        };
        builder = builder.with_config(key, value);
    }
    for (name, value) in variables.lower("AZURE_") {
        let key = match name.as_str() {
            "azure_storage_account" => Ok(AzureConfigKey::AccountName),
            "azure_storage_key" => Ok(AzureConfigKey::AccessKey),
            name => name.parse(),
        };
        if let Ok(key) = key {
            builder = builder.with_config(key, value);
        }
    }
    builder
}

/// The parts of `AZURE_STORAGE_CONNECTION_STRING`: `Name=value;Name=value`.
fn connection_string(variables: &Variables) -> Vec<(String, String)> {
    let parts = variables.get("AZURE_STORAGE_CONNECTION_STRING").unwrap_or_default().split(';');
    let pair =
        |part: &str| part.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.to_owned()));
    parts.filter_map(pair).collect()
}

/// The profile of AWS in `~/.aws/credentials` and `~/.aws/config`: `AWS_PROFILE`, else `default`. A file that cannot be
/// read counts as missing, as for AWS's own tools.
fn profile(variables: &Variables) -> Vec<(String, String)> {
    let name = variables.get("AWS_PROFILE").unwrap_or("default");
    let file = |variable: &str, usual: &str| {
        let own = variables.get(variable).map(PathBuf::from);
        own.or_else(|| Some(variables.home.as_ref()?.join(".aws").join(usual)))
    };
    let of_config = if name == "default" { name.to_owned() } else { format!("profile {name}") };
    let mut pairs = section(file("AWS_SHARED_CREDENTIALS_FILE", "credentials").as_deref(), name);
    pairs.extend(section(file("AWS_CONFIG_FILE", "config").as_deref(), &of_config));
    pairs
}

/// The pairs of a section of a file; none where it is not there.
fn section(file: Option<&Path>, name: &str) -> Vec<(String, String)> {
    let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let mut syntax = IniDefault::default();
    (syntax.case_sensitive, syntax.inline_comment_symbols) = (true, Some(Vec::new()));
    let mut file = Ini::new_from_defaults(syntax);
    let sections = file.read(text).unwrap_or_default();
    let pairs = sections.get(name).into_iter().flatten();
    pairs.filter_map(|(key, value)| Some((key.to_ascii_lowercase(), value.clone()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        let variables = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Variables { variables, home: None }
    }

    fn host(url: &str, pairs: &[(&str, &str)]) -> Option<(String, bool)> {
        let url = RemoteUrl::parse(url, "Memories.md").unwrap();
        destination(&url, &variables(pairs)).map(|to| (to.host, to.exposes_key))
    }

    #[test]
    fn the_machine_behind_an_address_is_named() {
        let to = |host: &str, exposes_key| Some((host.to_owned(), exposes_key));
        assert_eq!(host("s3://b/k", &[]), to("s3.us-east-1.amazonaws.com", false));
        assert_eq!(host("s3://b/k", &[("AWS_REGION", "eu-west-1")]), to("s3.eu-west-1.amazonaws.com", false));
        assert_eq!(host("s3://b/k", &[("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")]), None);
        assert_eq!(host("gs://b/k", &[]), to("storage.googleapis.com", false));
        assert_eq!(host("gs://b/k", &[("STORAGE_EMULATOR_HOST", "http://h:1")]), to("h", true));
        assert_eq!(
            host("az://c/k", &[("AZURE_STORAGE_ACCOUNT", "me")]),
            to("me.blob.core.windows.net", false)
        );
        let connection = "AccountName=me;AccountKey=a2V5==;BlobEndpoint=http://127.0.0.1:10000/me";
        assert_eq!(host("az://c/k", &[("AZURE_STORAGE_CONNECTION_STRING", connection)]), None);
        assert_eq!(host("file:///k", &[]), None);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "other programs write these files")]
    fn a_profile_is_read_where_the_environment_has_no_key() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".aws")).unwrap();
        let write = |name: &str, text: &str| fs::write(home.path().join(".aws").join(name), text).unwrap();
        write(
            "credentials",
            "[default]\naws_access_key_id = A\n[game]\naws_access_key_id=B\naws_secret_access_key = x\\y/z+w=\n",
        );
        write("config", "[default]\nregion = r1\n[profile game]\nregion = r2\ns3 =\n  max_queue_size = 1\n");
        let of =
            |pairs: &[(&str, &str)]| Variables { home: Some(home.path().to_owned()), ..variables(pairs) };
        let key = |pairs: &[(&str, &str)], key: AmazonS3ConfigKey| s3(&of(pairs)).get_config_value(&key);
        let text = |text: &str| Some(text.to_owned());
        use AmazonS3ConfigKey::{AccessKeyId, Region, SecretAccessKey};
        assert_eq!((key(&[], AccessKeyId), key(&[], Region)), (text("A"), text("r1")));
        let game = [("AWS_PROFILE", "game")];
        assert_eq!((key(&game, AccessKeyId), key(&game, Region)), (text("B"), text("r2")));
        assert_eq!(key(&game, SecretAccessKey), text("x\\y/z+w="));
        let own = [("AWS_PROFILE", "game"), ("AWS_ACCESS_KEY_ID", "C")];
        assert_eq!((key(&own, AccessKeyId), key(&own, SecretAccessKey)), (text("C"), None));
    }
}
