//! Masks passwords and keys that a command line has at a place of its own, such as behind `--password`.
//!
//! The module `redact` of `memories-llm` knows keys by their form. Here the program and the flag show which text is
//! secret, whatever its form.

use crate::work::command::Shell;
use crate::work::shell::Simple;
use memories_llm::redact::redacted;

/// Words in the name of a flag or setting whose value is secret.
const SECRET: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "token",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
];

/// Ends of such names that say that the value is none itself.
const NOT_SECRET: [&str; 9] = ["file", "stdin", "name", "id", "path", "env", "type", "withtoken", "ttl"];

/// Flags whose value is secret, by program, and whether the value is attached to the flag (`-pX`).
const FLAGS: [(&[&str], &str, bool); 12] = [
    (&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb"], "-p", true),
    (&["7z", "7za", "7zr", "rar"], "-p", true),
    (&["sshpass", "mongo", "mongosh", "mongodump", "mongorestore"], "-p", false),
    (&["docker", "podman", "helm", "skopeo", "buildah", "oc"], "-p", false),
    (&["redis-cli"], "-a", false),
    (&["zip", "unzip", "zipcloak"], "-P", false),
    (&["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami"], "-w", false),
    (&["smbclient", "rpcclient"], "-U", false),
    (&["curl", "wget", "http", "xh"], "-u", false),
    (&["curl"], "--user", false),
    (&["openssl"], "-k", false),
    (&["openssl"], "-pass", false),
];

/// Commands whose last argument is secret: a program, and a word that must be among its arguments.
const LAST: [(&str, &str); 6] = [
    ("vault", "login"),
    ("htpasswd", "-b"),
    ("rabbitmqctl", "add_user"),
    ("rabbitmqctl", "change_password"),
    ("aws", "configure"),
    ("gh", "secret"),
];

/// Shortest value that is masked, in bytes. A shorter one would be replaced within other words.
const SHORTEST: usize = 4;

/// Text in the place of a secret.
const MASK: &str = "[masked]";

/// A command line without secrets.
pub(super) fn masked(text: &str, shell: Shell) -> String {
    redacted(&without(text, &secrets(text, shell)))
}

/// A text in which no secret of a command line stands.
pub(super) fn without(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
}

/// The secrets of a command line that stand at a place of their own, the longest first.
pub(super) fn secrets(text: &str, shell: Shell) -> Vec<String> {
    let simple =
        shell.split(text).map(|commands| commands.into_iter().map(|(command, _)| plain(&command)).collect());
    // A text that the splitter does not understand is taken word by word.
    let lists: Vec<Vec<String>> =
        simple.unwrap_or_else(|| vec![text.split_whitespace().map(str::to_owned).collect()]);
    let reads_secret = lists
        .iter()
        .flatten()
        .any(|word| matches!(word.as_str(), "--password-stdin" | "--with-token" | "chpasswd" | "passwd"));
    let mut found: Vec<String> = lists.iter().flat_map(|words| of_words(words)).collect();
    if reads_secret {
        let said = lists
            .iter()
            .filter(|words| matches!(words[..], [ref first, ..] if first == "echo" || first == "printf"));
        found.extend(said.flat_map(|words| words[1..].iter().cloned()));
    }
    // A variable is no secret, and what it holds is not known.
    found.retain(|value| value.len() >= SHORTEST && !value.starts_with(['$', '-', '<']) && value != MASK);
    found.sort_by(|one, other| (other.len(), other).cmp(&(one.len(), one)));
    found.dedup();
    found
}

fn plain(command: &Simple) -> Vec<String> {
    command.words.iter().map(|word| word.plain.clone()).collect()
}

fn of_words(words: &[String]) -> Vec<String> {
    let program =
        words.iter().find(|word| !word.contains('=') && !matches!(word.as_str(), "sudo" | "env" | "time"));
    let program = program.map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let mut found = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let next = words.get(number + 1);
        if let Some((name, value)) = word.split_once('=')
            && names_secret(name)
        {
            found.push(value.to_owned());
        } else if word.starts_with('$') && names_secret(word) && next.is_some_and(|next| next == "=") {
            found.extend(words.get(number + 2).cloned());
        } else if word == "convertto-securestring" || word.starts_with('-') && names_secret(word) {
            found.extend(next.cloned());
        }
        for (_, flag, is_attached) in FLAGS.iter().filter(|(programs, ..)| programs.contains(&program)) {
            let value = match is_attached {
                true => word.strip_prefix(flag).filter(|value| !value.is_empty()),
                false if word == flag => next.map(String::as_str),
                false if *flag == "-pass" && word.starts_with(flag) => next.map(String::as_str),
                false => None,
            };
            found.extend(value.map(|value| password_of(program, value).to_owned()));
        }
    }
    let is_last =
        |(named, among): &&(&str, &str)| *named == program && words.iter().any(|word| word == among);
    if LAST.iter().any(|row| is_last(&row)) && words.iter().any(|word| names_secret(word) || program != "aws")
    {
        found.extend(words.last().cloned());
    }
    found
}

/// The part of a value that is secret: `user:password`, `user%password`, `pass:password`.
fn password_of<'a>(program: &str, value: &'a str) -> &'a str {
    match program {
        "docker" | "podman" if value.contains([':', '/']) => "",
        "smbclient" | "rpcclient" => value.split_once('%').map_or("", |(_, password)| password),
        "curl" | "wget" | "http" | "xh" => value.split_once(':').map_or("", |(_, password)| password),
        "openssl" => value.strip_prefix("pass:").unwrap_or(value),
        _ => value,
    }
}

/// True for the name of a flag, variable or setting whose value is secret.
fn names_secret(name: &str) -> bool {
    let name: String =
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRET.iter().any(|secret| name.contains(secret)) && !NOT_SECRET.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_at_their_places_are_masked() {
        for command in [
            "mysql -u root -pS3cretword app",
            "curl -u admin:S3cretword https://x.example/",
            "curl --user admin:S3cretword https://x.example/",
            "sshpass -p S3cretword ssh host",
            "docker login -u bob -p S3cretword",
            "echo S3cretword | docker login --password-stdin",
            "redis-cli -a S3cretword ping",
            "aws configure set aws_secret_access_key S3cretword",
            "gh secret set FOO --body S3cretword",
            "vault login S3cretword",
            "openssl rsa -in k.pem -passin pass:S3cretword",
            "openssl enc -aes-256-cbc -k S3cretword",
            "7z a -pS3cretword x.7z x",
            "unzip -P S3cretword x.zip",
            "mongosh -p S3cretword",
            "smbclient -U 'user%S3cretword' //host/share",
            "ldapsearch -w S3cretword",
            "htpasswd -b file bob S3cretword",
            "rabbitmqctl add_user bob S3cretword",
            "tool --password S3cretword",
            "tool --password \\\n  S3cretword",
            "tool --api-key=S3cretword | tail",
            "sudo DB_PASSWORD=S3cretword ./run",
        ] {
            let shown = masked(command, Shell::Posix);
            assert!(!shown.contains("S3cretword"), "{command}: {shown}");
        }
    }

    #[test]
    fn secrets_in_lines_of_powershell_are_masked() {
        for command in [
            "$env:API_TOKEN = 'S3cretword'; make",
            "$env:API_TOKEN=\"S3cretword\"; make",
            "ConvertTo-SecureString 'S3cretword' -AsPlainText -Force",
            "tool -Password `\n S3cretword",
            "pwsh -c \"mysql -pS3cretword\"",
        ] {
            let shown = masked(command, Shell::PowerShell);
            assert!(!shown.contains("S3cretword"), "{command}: {shown}");
        }
        assert_eq!(masked(r"type C:\src\a.txt", Shell::PowerShell), r"type C:\src\a.txt");
    }

    #[test]
    fn other_words_stay() {
        for command in [
            "docker run -p 8080:80 app",
            "cargo test --token-file path/to/token",
            "psql -p 5432 app",
            "tool --password $PASSWORD",
            "git commit -m 'the password is asked for'",
            "mkdir -p some/folder",
            "echo hello && npm test",
        ] {
            assert_eq!(masked(command, Shell::Posix), command);
        }
    }

    #[test]
    fn a_secret_is_masked_in_the_output_too() {
        let secrets = secrets("mysql -pS3cretword", Shell::Posix);
        assert_eq!(without("login with S3cretword failed", &secrets), "login with [masked] failed");
    }
}
