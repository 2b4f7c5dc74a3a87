//! Code shared by `proxy`, `serve` and `mcp --http`: the socket, the allowed callers, and the token that they must send.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use crate::cli::failure::{Failure, unreadable};
use memories_store::read_bounded;
use memories_web::Token;

/// Longest file that is read for a token, in bytes.
const MAX_FILE: u64 = 4096;

/// Listens at an address, which `flag` names.
pub(super) fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        Failure::caused(format!("cannot listen on {address}"), error)
            .hint(format!("choose another port with `{flag}`; 0 takes a free one"))
    })
}

/// The token that callers must send: that of the file, else of the variable, whose name is `name`. Refuses an address
/// that other machines reach, unless they are let in, and then only with a token.
pub(super) fn token_of(
    listen: SocketAddr,
    allow_remote: bool,
    file: Option<&Path>,
    variable: Option<&SecretString>,
    name: &str,
) -> Result<Option<Token>, Failure> {
    if !listen.ip().to_canonical().is_loopback() && !allow_remote {
        let problem = format!("{listen} is not an address of this machine alone");
        return Err(Failure::usage(problem)
            .hint("listen on 127.0.0.1, or let other machines read memories with `--allow-remote`"));
    }
    if allow_remote && file.is_none() && variable.is_none() {
        return Err(Failure::usage("other machines may connect only with a token").hint(format!(
            "make one with `openssl rand -hex 32 > token` and name it with `--token-file token`, or set \
             `{name}`",
        )));
    }
    let (text, source) = match (file, variable) {
        (None, None) => return Ok(None),
        (None, Some(variable)) => (variable.expose_secret().to_owned(), format!("`{name}`")),
        (Some(path), _) => {
            let bytes = read_bounded(path, MAX_FILE).map_err(|error| unreadable(path, error))?;
            (String::from_utf8_lossy(&bytes).into_owned(), format!("`{}`", path.display()))
        }
    };
    let token = Token::new(&text).map_err(|error| {
        Failure::user(format!("{source} cannot be used: {error}"))
            .hint("make a token with `openssl rand -hex 32`")
    })?;
    Ok(Some(token))
}
