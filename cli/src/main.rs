//! The `bookrag` command.

use std::process::ExitCode;

use bookrag_cli::{Arguments, command, run};
use clap::FromArgMatches;

/// The stack of each thread that serves requests. In an unoptimised build a request needs more than the usual 2 MiB.
const STACK_BYTES: usize = 16 * 1024 * 1024;

fn main() -> ExitCode {
    let arguments =
        Arguments::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)).into(),
        Err(error) => {
            eprintln!("error: the runtime could not start: {error}");
            ExitCode::FAILURE
        }
    }
}
