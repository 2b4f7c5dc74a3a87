//! Ctrl-C and its like, for commands that work on until they are told to stop.

/// Calls a function at the first signal; a second one ends the program at once.
pub(crate) fn on_interrupt(first: impl FnOnce() + Send + 'static) {
    let (heeded, is_heeded) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let mut signals = Signals::heed();
            let _ = heeded.send(());
            signals.next().await;
            first();
            signals.next().await;
            std::process::exit(130);
        });
    });
    // A signal from here on is heeded.
    let _ = is_heeded.recv();
}

/// Waits for the first signal, which lets a server end what it has begun. A second one ends the program at once. Signals
/// are heeded from the call on, before the future is polled: call it before the server says that it listens.
#[cfg(any(feature = "mcp", feature = "page", feature = "proxy"))]
pub(crate) fn interrupted() -> impl Future<Output = ()> + Send + 'static {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    on_interrupt(move || {
        let _ = sender.send(());
    });
    async move {
        if receiver.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

pub(crate) use signals::Signals;

#[cfg(unix)]
mod signals {
    use std::future::{pending, poll_fn};
    use std::task::Poll;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// The signals that ask a program to end: SIGINT, SIGTERM and SIGHUP.
    pub(crate) struct Signals(Vec<Signal>);

    impl Signals {
        /// From now on these signals do not end the program by themselves.
        pub(crate) fn heed() -> Signals {
            let hang_up = heeds_hang_up().then(SignalKind::hangup);
            let kinds = [SignalKind::interrupt(), SignalKind::terminate()].into_iter().chain(hang_up);
            Signals(kinds.filter_map(|kind| signal(kind).ok()).collect())
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) {
            if self.0.is_empty() {
                return pending().await;
            }
            poll_fn(|context| {
                if self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
    }

    /// False where a hang-up is ignored, as under `nohup`, and where the system does not say so: then it ends the
    /// program, as it would without this handler.
    fn heeds_hang_up() -> bool {
        const HANG_UP: u64 = 1;
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & HANG_UP == 0)
    }
}

#[cfg(not(unix))]
mod signals {
    /// Ctrl-C.
    pub(crate) struct Signals;

    impl Signals {
        pub(crate) fn heed() -> Signals {
            Signals
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
