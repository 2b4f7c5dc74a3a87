//! The socket of `mcp --http`, and its allowed callers.

use std::net::SocketAddr;

use secrecy::ExposeSecret;
use serde_json::json;

use crate::cli::commands::token::bind;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::mcp::{HTTP_PATH, HttpSettings};
use memories_document::types::Writer;
use memories_web::{Caller, Callers, Guard, Limits, Token};

const VARIABLE: &str = "MEMORIES_MCP_TOKEN";

const MAKE_ONE: &str = "make a token with `openssl rand -hex 32`";

/// Listens at an address, and says so.
pub(super) fn listen(
    cli: &mut Cli<'_>,
    address: SocketAddr,
    hosts: &[String],
) -> Result<HttpSettings, Failure> {
    let tokens = cli.settings.mcp_token.as_ref().map(|tokens| callers(tokens.expose_secret())).transpose()?;
    let is_local = address.ip().to_canonical().is_loopback();
    match &tokens {
        None if !is_local => {
            return Err(Failure::usage("other machines may connect only with a token")
                .hint(format!("set `{VARIABLE}`, or listen on 127.0.0.1; {MAKE_ONE}")));
        }
        None => cli
            .ui
            .warning(&format!("without `{VARIABLE}` every user of this machine can reach these memories")),
        Some(_) if !is_local => {
            cli.ui.warning(
                "tokens and memories go over the network unencrypted: put a server with TLS before it",
            );
        }
        Some(_) => {}
    }
    let listener = bind(address, "--http")?;
    let address = listener.local_addr()?;
    let guard = Guard::new(address, hosts, tokens.map_or(Callers::Anyone, Callers::Bearer));
    let shown = format!("http://{address}{HTTP_PATH}");
    cli.ui.answer(&json!({"listening": shown}), &format!("listening on {shown}\n"))?;
    Ok(HttpSettings { listener, guard, limits: Limits::default() })
}

/// The callers of `MEMORIES_MCP_TOKEN`: one token, or several with the names of their callers. Two tokens may have the
/// same name, so that one can be replaced while the server runs on with the other. No part of it is shown.
fn callers(text: &str) -> Result<Vec<Caller>, Failure> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let refuse = |number: usize, problem: &str| {
        let which =
            if words.len() > 1 { format!("token {number} of `{VARIABLE}`") } else { format!("`{VARIABLE}`") };
        Failure::user(format!("{which} cannot be used: {problem}"))
    };
    let mut callers: Vec<Caller> = Vec::new();
    for (number, word) in (1..).zip(&words) {
        let (name, token) = named(word).map_or((None, *word), |(name, token)| (Some(name.to_owned()), token));
        if name.is_none() && words.len() > 1 {
            let hint =
                "write several as `NAME=TOKEN`, with lower-case letters, digits, `_` and `-` in the name";
            return Err(refuse(number, "it has no name").hint(hint));
        }
        let token = Token::new(token).map_err(|error| refuse(number, &error.to_string()).hint(MAKE_ONE))?;
        if callers.iter().any(|caller| caller.token == token) {
            return Err(
                refuse(number, "it is also the token before it").hint("give each name a token of its own")
            );
        }
        callers.push(Caller { name, token });
    }
    Ok(callers)
}

/// Name and token of `NAME=TOKEN`. A token in base64 may end with `=`, so a name has something else behind it.
fn named(word: &str) -> Option<(&str, &str)> {
    let (name, token) = word.split_once('=')?;
    let is_name = name.parse::<Writer>().is_ok_and(|writer| writer.name() == name);
    (is_name && !token.trim_matches('=').is_empty()).then_some((name, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn names(text: &str) -> Result<Vec<Option<String>>, String> {
        let callers = callers(text).map_err(|failure| format!("{failure:?}"))?;
        Ok(callers.into_iter().map(|caller| caller.name).collect())
    }

    #[test]
    fn one_token_needs_no_name_and_several_have_one_each() {
        assert_eq!(names(TOKEN), Ok(vec![None]));
        assert_eq!(names("MDEyMzQ1Njc4OWFiY2RlZg=="), Ok(vec![None]));
        assert_eq!(names("c2hvcnRfc2hvcnRfc2hvcnQ="), Ok(vec![None]));
        let two = format!(" worker-7={TOKEN}  worker_8=MDEyMzQ1Njc4OWFiY2RlZg==\n");
        assert_eq!(names(&two), Ok(vec![Some("worker-7".to_owned()), Some("worker_8".to_owned())]));
        let replaced = format!("a={TOKEN}1 a={TOKEN}2");
        assert_eq!(names(&replaced), Ok(vec![Some("a".to_owned()), Some("a".to_owned())]));
    }

    #[test]
    fn unusable_tokens_are_refused_without_being_shown() {
        for wrong in [
            "zqx".to_owned(),
            "a=zqx-token".to_owned(),
            format!("{TOKEN} {TOKEN}2"),
            format!("a={TOKEN} {TOKEN}2"),
            format!("a={TOKEN} b={TOKEN}"),
            format!("Worker={TOKEN} b={TOKEN}2"),
            format!("{TOKEN}\u{e9}"),
        ] {
            let problem = names(&wrong).unwrap_err();
            assert!(!problem.contains("zqx") && !problem.contains(TOKEN), "{problem}");
        }
    }
}
