//! The `bookrag` command.

use std::process::ExitCode;
use std::thread;

use bookrag_cli::{Arguments, command, run};
use clap::FromArgMatches;

/// The stack of each thread that answers questions. In an unoptimised build an answer needs more than the usual 2 MiB, and more than the 8 MiB of
/// the first thread.
const STACK_BYTES: usize = 16 * 1024 * 1024;

fn main() -> ExitCode {
    let arguments =
        Arguments::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build();
    let ended = runtime.and_then(|runtime| {
        let command = thread::Builder::new().stack_size(STACK_BYTES);
        command.spawn(move || runtime.block_on(run(arguments)))
    });
    match ended.map(thread::JoinHandle::join) {
        Ok(Ok(exit)) => exit.into(),
        // The panic was reported.
        Ok(Err(_)) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: the runtime could not start: {error}");
            ExitCode::FAILURE
        }
    }
}
