//! Ctrl-C and its like, for commands that work on until they are told to stop.

/// Calls a function at the first interrupt; a second one ends the program at once. Without the server of `proxy`
/// in the build, the first one does, which leaves the files whole, too.
#[cfg(feature = "proxy")]
pub(crate) fn on_interrupt(first: impl FnOnce() + Send + 'static) {
    use crate::chat::proxy::interrupted;

    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            interrupted().await;
            first();
            interrupted().await;
            std::process::exit(130);
        });
    });
}

#[cfg(not(feature = "proxy"))]
pub(crate) fn on_interrupt(_: impl FnOnce() + Send + 'static) {}
