//! The connection to the client: a message a line, in both directions.
//!
//! Bytes of the client enter, and messages for the SDK leave; messages of the SDK enter, and lines for the client
//! leave. The SDK's own connection says nothing to a line that is not JSON, so that a client that sent it waits for
//! ever. Here each line that is no message is answered with the protocol's error, and the connection goes on.

use std::io;

use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::mcp::malformed::{Line, read, too_long};

/// Longest line of a client, in bytes.
const MAX_LINE: usize = 16 << 20;

/// Lines that wait until the client reads them. Whatever sends more waits, too.
const WAITING: usize = 64;

/// The connection, as the SDK uses it.
pub(super) struct Wire<R> {
    reader: BufReader<R>,
    /// The line as far as it has come: a call of `receive` may be given up and begun again at any `await`.
    line: Vec<u8>,
    /// The rest of a line that is too long is dropped.
    is_skipping: bool,
    /// An answer that waits for room.
    refusal: Option<Vec<u8>>,
    lines: Option<Sender<Vec<u8>>>,
}

impl<R: AsyncRead + Unpin> Wire<R> {
    /// A connection, and the task that writes. It ends when everything is written after the connection is dropped, or
    /// when the client has left.
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> (Wire<R>, JoinHandle<()>) {
        let (lines, waiting) = channel(WAITING);
        let writing = tokio::spawn(write_all(writer, waiting));
        let reader = BufReader::new(reader);
        let wire = Wire { reader, line: Vec::new(), is_skipping: false, refusal: None, lines: Some(lines) };
        (wire, writing)
    }

    /// Reads on to the end of the line, which is then in `line`; false if it is too long. Nothing at the end.
    async fn read_line(&mut self) -> Option<bool> {
        loop {
            let read = self.reader.fill_buf().await.ok()?;
            if read.is_empty() {
                // The last line may have no line break.
                return (!self.line.is_empty()).then_some(true);
            }
            let end = memchr::memchr(b'\n', read);
            let length = end.map_or(read.len(), |at| at + 1);
            let was_skipping = self.is_skipping;
            self.is_skipping |= self.line.len() + length > MAX_LINE;
            if self.is_skipping {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(&read[..length]);
            }
            self.reader.consume(length);
            let is_too_long = self.is_skipping && !was_skipping;
            self.is_skipping &= end.is_none();
            if is_too_long {
                return Some(false);
            }
            if end.is_some() && !was_skipping {
                return Some(true);
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Wire<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let lines = self.lines.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            lines.ok_or_else(gone)?.send(line).await.map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.refusal.is_some() {
                let room = self.lines.as_ref()?.reserve().await.ok()?;
                room.send(self.refusal.take().unwrap_or_default());
            }
            let refusal = if !self.read_line().await? {
                Some(too_long(MAX_LINE))
            } else {
                match read(&std::mem::take(&mut self.line)) {
                    Line::Message(message) => return Some(*message),
                    Line::Ignored => None,
                    Line::Refused(refusal) => Some(refusal),
                }
            };
            self.refusal = refusal.map(|refusal| format!("{refusal}\n").into_bytes());
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines = None;
        Ok(())
    }
}

async fn write_all(mut writer: impl AsyncWrite + Unpin, mut waiting: Receiver<Vec<u8>>) {
    while let Some(line) = waiting.recv().await {
        if writer.write_all(&line).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The methods of the messages that come of these bytes, and the answers to the other lines.
    fn receive(bytes: &[u8]) -> (usize, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut theirs, ours) = tokio::io::duplex(1 << 16);
            let (mut wire, writing) = Wire::new(bytes, ours);
            let mut messages = 0;
            while wire.receive().await.is_some() {
                messages += 1;
            }
            drop(wire);
            writing.await.unwrap();
            let mut written = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut theirs, &mut written).await.unwrap();
            (messages, written.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
        })
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_once_and_the_next_one_is_read() {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        let long = "x".repeat(MAX_LINE + 100);
        let exact = " ".repeat(MAX_LINE - 1 - ping.len());
        let (messages, refusals) = receive(format!("{ping}\n{long}\n{exact}{ping}\n{long}").as_bytes());
        assert_eq!((messages, refusals.len()), (2, 2));
        assert_eq!(refusals[0]["error"]["code"], -32600);
        assert_eq!(refusals[0]["id"], Value::Null);
    }

    #[test]
    fn the_last_line_needs_no_line_break_and_empty_lines_are_nothing() {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        assert_eq!(receive(format!("\n\r\n \n\u{feff}{ping}\r\n{ping}").as_bytes()), (2, vec![]));
        let (messages, refusals) = receive(&ping.as_bytes()[..20]);
        assert_eq!((messages, &refusals[0]["error"]["code"]), (0, &json!(-32700)));
    }
}
