//! The connections of a server, and what each of them makes it hold.
//!
//! A connection waits for the head of a request, or its answer is written. One that waits for its head makes room for a
//! new one. Answers that nobody reads share a room: beyond it the connection goes that was not read for longest.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// Bytes of an answer that a connection gets at once.
const PIECE: usize = 64 << 10;

/// Bytes of all answers from which on a connection goes that was not read for [`STALLED`].
const ROOM: usize = 12 << 20;

/// Bytes of all answers above which the one that was not read for longest is cut at once, unless it is the only one.
const MOST: usize = 2 * ROOM;

/// Time without reading after which an answer is taken for one that nobody reads, where others need its room.
const STALLED: Duration = Duration::from_millis(500);

/// Pause between two looks at the answers.
const LOOK: Duration = Duration::from_millis(250);

/// The connections of a server.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    all: Mutex<BTreeMap<u64, State>>,
    /// Told when a connection begins to wait for a head.
    waits: Notify,
}

#[derive(Debug)]
struct State {
    /// Ends the connection.
    cut: Arc<Notify>,
    /// It has got no head of a request since the answer before.
    awaits_head: bool,
    /// Bytes of memory that its answer takes until the last of it is written.
    held: usize,
    /// Since when its reader takes nothing; `None` while it is not the reader that is waited for.
    unread: Option<Instant>,
}

impl Connections {
    /// A connection that begins.
    pub(crate) fn begin(self: &Arc<Self>) -> Arc<Connection> {
        let cut = Arc::new(Notify::new());
        let mut all = self.all();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, State { cut: cut.clone(), awaits_head: true, held: 0, unread: None });
        Arc::new(Connection { number, cut, all: self.clone() })
    }

    /// Ends the connection that waits for a head for longest, as soon as there is one.
    pub(crate) async fn make_room(&self) {
        loop {
            let waits = self.waits.notified();
            if let Some(state) = self.all().values_mut().find(|state| state.awaits_head) {
                state.awaits_head = false;
                state.cut.notify_one();
                return;
            }
            waits.await;
        }
    }

    /// Ends those whose answers nobody reads, now and then, as long as it is awaited.
    pub(crate) async fn watch(&self, longest: Duration) {
        loop {
            sleep(LOOK).await;
            let mut all = self.all();
            for state in all.values_mut() {
                if state.unread.is_some_and(|since| since.elapsed() >= longest) {
                    state.end();
                }
            }
            make_room_for_answers(&mut all);
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, State>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end(&mut self) {
        (self.held, self.unread) = (0, None);
        self.cut.notify_one();
    }
}

/// Ends connections until their answers have room.
fn make_room_for_answers(all: &mut BTreeMap<u64, State>) {
    let mut held: usize = all.values().map(|state| state.held).sum();
    while held > ROOM {
        let unread = all.values_mut().filter(|state| state.held > 0 && state.unread.is_some());
        let Some(slowest) = unread.min_by_key(|state| state.unread) else { return };
        let is_alone = held == slowest.held;
        if (held <= MOST || is_alone) && slowest.unread.is_some_and(|since| since.elapsed() < STALLED) {
            return;
        }
        held -= slowest.held;
        slowest.end();
    }
}

/// A connection of a server.
#[derive(Debug)]
pub(crate) struct Connection {
    number: u64,
    cut: Arc<Notify>,
    all: Arc<Connections>,
}

impl Connection {
    /// Ready when the connection is to end.
    pub(crate) async fn is_cut(&self) {
        self.cut.notified().await;
    }

    /// A head has come.
    pub(crate) fn is_asked(&self) {
        self.change(|state| state.awaits_head = false);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut all = self.all.all();
        if let Some(state) = all.get_mut(&self.number) {
            change(state);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.all().remove(&self.number);
    }
}

/// The body of an answer, which is given to its connection piece by piece, as that is read.
pub(crate) struct Answer {
    body: Body,
    /// What is left of the frame that came last.
    rest: Bytes,
    /// Length of that frame, which takes its memory as long as any of it is left.
    length: usize,
    /// Nothing else holds it: a text that all answers share takes no room of theirs.
    is_own: bool,
    connection: Arc<Connection>,
}

impl Answer {
    pub(crate) fn new(body: Body, connection: Arc<Connection>) -> Answer {
        Answer { body, rest: Bytes::new(), length: 0, is_own: false, connection }
    }

    /// The next piece of the frame that came last.
    fn piece(&mut self) -> Frame<Bytes> {
        let mut piece = self.rest.split_to(self.rest.len().min(PIECE));
        if self.is_own {
            // A part of the frame would keep all of it.
            piece = Bytes::copy_from_slice(&piece);
        }
        let held = if self.is_own && !self.rest.is_empty() { self.length } else { 0 };
        self.connection.change(|state| (state.held, state.unread) = (held, Some(Instant::now())));
        Frame::data(piece)
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(self.piece())));
        }
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => {
                    (self.is_own, self.length, self.rest) = (data.is_unique(), data.len(), data);
                    let piece = self.piece();
                    if self.rest.len() > PIECE {
                        make_room_for_answers(&mut self.connection.all.all());
                    }
                    Poll::Ready(Some(Ok(piece)))
                }
                Err(frame) => Poll::Ready(Some(Ok(frame))),
            },
            Poll::Pending => {
                self.connection.change(|state| state.unread = None);
                Poll::Pending
            }
            ended => ended,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.change(|state| (state.awaits_head, state.held, state.unread) = (true, 0, None));
        self.connection.all.waits.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::pin::pin;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use axum::extract::Request;
    use axum::response::Response;

    use super::*;
    use crate::{Limits, serve};

    /// Time in which anything must happen.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Bytes of an answer, more than the system takes for a connection.
    const LENGTH: usize = 16 << 20;

    /// A server of long answers. Its end is told for each of them.
    fn server(limits: Limits) -> (std::net::SocketAddr, Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (ended, ends) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let handler = move |_: Request| {
                let long = Long { data: Some(vec![b'x'; LENGTH].into()), ended: ended.clone() };
                async move { Response::new(Body::new(long)) }
            };
            runtime.block_on(serve(listener, limits, PATIENCE, handler, pending()))
        });
        (address, ends)
    }

    /// A long body that comes at once, and tells its end.
    struct Long {
        data: Option<Bytes>,
        ended: Sender<()>,
    }

    impl HttpBody for Long {
        type Data = Bytes;
        type Error = Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
            Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
        }
    }

    impl Drop for Long {
        fn drop(&mut self) {
            let _ = self.ended.send(());
        }
    }

    fn ask(address: std::net::SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        stream
    }

    /// Bytes of an answer that come.
    fn length(mut stream: TcpStream) -> usize {
        let mut read = Vec::new();
        let _ = stream.read_to_end(&mut read);
        let _ = stream.shutdown(Shutdown::Both);
        read.len()
    }

    #[test]
    fn an_answer_that_nobody_reads_ends() {
        let (address, ends) = server(Limits { answer: Duration::from_millis(100), ..Limits::default() });
        let unread = ask(address);
        ends.recv_timeout(PATIENCE).unwrap();
        assert!(length(unread) < LENGTH);
        assert!(length(ask(address)) > LENGTH, "one that is read comes whole");
    }

    #[test]
    fn answers_that_nobody_reads_have_a_room() {
        let (address, ends) = server(Limits { answer: PATIENCE * 10, ..Limits::default() });
        let held: Vec<TcpStream> = (0..12).map(|_| ask(address)).collect();
        let few = MOST / (LENGTH / 2);
        for _ in few..held.len() {
            ends.recv_timeout(PATIENCE).unwrap();
        }
        assert!(length(ask(address)) > LENGTH, "one that is read comes whole");
    }

    #[test]
    fn one_long_answer_comes_whole() {
        let all = |held: &[usize]| -> BTreeMap<u64, State> {
            let state = |held: &usize| {
                let unread = Some(Instant::now());
                State { cut: Arc::default(), awaits_head: false, held: *held, unread }
            };
            (0..).zip(held.iter().map(state)).collect()
        };
        let left = |held: &[usize]| {
            let mut all = all(held);
            make_room_for_answers(&mut all);
            all.values().map(|state| state.held).collect::<Vec<_>>()
        };
        assert_eq!(left(&[2 * MOST]), [2 * MOST]);
        assert_eq!(left(&[0, 2 * MOST, 0]), [0, 2 * MOST, 0]);
        assert_eq!(left(&[MOST, 1]), [0, 1]);
        assert_eq!(left(&[ROOM, ROOM]), [ROOM, ROOM]);
    }

    #[tokio::test]
    async fn callers_that_come_at_once_wait_to_be_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let handler = |_: Request| async { Response::new(Body::empty()) };
        let mut serving = pin!(serve(listener, Limits::default(), PATIENCE, handler, pending()));
        // The server is polled once, and accepts few callers.
        assert!(poll_fn(|context| Poll::Ready(serving.as_mut().poll(context).is_pending())).await);
        // The system tries again after a second where there is no room.
        let come = |_| TcpStream::connect_timeout(&address, Duration::from_millis(900)).unwrap();
        let callers: Vec<TcpStream> = (0..500).map(come).collect();
        assert_eq!(callers.len(), 500);
    }

    #[test]
    fn half_a_head_makes_room_for_a_whole_one() {
        let limits = Limits { connections: 3, header: PATIENCE * 10, ..Limits::default() };
        let (address, _ends) = server(limits);
        let half = || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
            stream
        };
        let _held: Vec<TcpStream> = (0..10).map(|_| half()).collect();
        assert!(length(ask(address)) > LENGTH);
    }
}
