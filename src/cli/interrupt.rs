//! Ctrl-C and its like, for commands that work on until they are told to stop, and the signals that end none.

use crate::cli::failure::Failure;

/// Calls a function at the first signal; a second one ends the program at once. Signals are heeded from the call on.
pub(crate) fn on_interrupt(first: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let signals = Signals::heed().map_err(|error| Failure::caused("cannot wait for signals", error))?;
    std::thread::spawn(move || {
        let mut signals = signals;
        signals.wait();
        first();
        signals.wait();
        std::process::exit(130);
    });
    Ok(())
}

/// Waits for the first signal, which lets a server end what it has begun. A second one ends the program at once. Signals
/// are heeded from the call on, before the future is polled: call it before the server says that it listens.
#[cfg(any(feature = "mcp", feature = "page", feature = "proxy"))]
pub(crate) fn interrupted() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    on_interrupt(move || {
        let _ = sender.send(());
    })?;
    Ok(async move {
        if receiver.await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// Lets a file that would grow beyond the limit of the process be an error of the write, not the end of the program.
pub(crate) fn outlive_file_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

use signals::Signals;

#[cfg(unix)]
mod signals {
    use std::io;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    /// The signals that ask a program to end: SIGINT, SIGTERM and SIGHUP.
    pub(super) struct Signals(signal_hook::iterator::Signals);

    impl Signals {
        /// From now on these signals do not end the program by themselves.
        pub(super) fn heed() -> io::Result<Signals> {
            let hang_up = heeds_hang_up().then_some(SIGHUP);
            signal_hook::iterator::Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up)).map(Signals)
        }

        /// Waits for the next one.
        pub(super) fn wait(&mut self) {
            self.0.forever().next();
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
    use std::io;

    use tokio::runtime::{Builder, Runtime};

    /// Ctrl-C.
    pub(super) struct Signals(Runtime);

    impl Signals {
        pub(super) fn heed() -> io::Result<Signals> {
            Builder::new_current_thread().enable_all().build().map(Signals)
        }

        /// Waits for the next one.
        pub(super) fn wait(&mut self) {
            if self.0.block_on(tokio::signal::ctrl_c()).is_err() {
                self.0.block_on(std::future::pending::<()>());
            }
        }
    }
}
